import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ServedStore } from './faulty-server.ts';
import { forward } from './forward.ts';
import { s3Operation, s3Refusal } from './s3-bucket.ts';
import { freePort } from '../../support/free-port.ts';

const run = promisify(execFile);

export interface Radosgw {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Attempts to reach the gateway, half a second apart. */
const attempts = 240;

/** Starts the system's Ceph with an S3 gateway, all in memory and on loopback, or says why it cannot be had. */
export async function startRadosgw(accessKey: string, secret: string): Promise<Radosgw | string> {
  for (const program of ['ceph-mon', 'ceph-osd', 'radosgw']) {
    const found = await run(program, ['--version']).catch(() => undefined);
    if (found === undefined) return `there is no ${program}`;
  }
  const folder = await mkdtemp(join(tmpdir(), 'rgw-'));
  const running: ChildProcess[] = [];
  const start = (program: string, args: readonly string[]): void => {
    running.push(spawn(program, ['-c', join(folder, 'ceph.conf'), ...args, '-f'], { cwd: folder, stdio: 'ignore' }));
  };
  const call = (program: string, args: readonly string[]) =>
    run(program, ['-c', join(folder, 'ceph.conf'), ...args], { cwd: folder, timeout: 120_000 });
  const stop = async (): Promise<void> => {
    for (const child of running.reverse()) {
      if (child.exitCode !== null || !child.kill('SIGKILL')) continue;
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [monitor, port, cluster, disk] = [await freePort(), await freePort(), randomUUID(), randomUUID()] as const;
    await prepare(folder, { monitor, port, cluster });
    await call('ceph-mon', ['-i', 'a', '--mkfs', '--monmap', 'monmap', '--keyring', 'keyring']);
    start('ceph-mon', ['-i', 'a']);
    await call('ceph', ['--connect-timeout', '60', 'osd', 'new', disk]);
    await call('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', disk]);
    start('ceph-osd', ['-i', '0']);
    const keys = ['--access-key', accessKey, '--secret', secret];
    await call('radosgw-admin', ['user', 'create', '--uid', 'tester', '--display-name', 'tester', ...keys]);
    start('radosgw', ['-n', 'client.rgw']);
    await reached(port);
    return { port, stop };
  } catch (error) {
    await stop();
    return `Ceph does not start: ${String(error)}`;
  }
}

/** The gateway behind a server that injects faults. */
export function servedRadosgw({ port }: Radosgw): ServedStore {
  return {
    operationOf: s3Operation,
    refusal: s3Refusal,
    answer: (request, body) => forward(port, request, body),
  };
}

/** Settings, keys and the map of the one monitor. */
async function prepare(folder: string, at: { monitor: number; port: number; cluster: string }): Promise<void> {
  const address = `v2:127.0.0.1:${at.monitor}/0`;
  for (const name of ['mon', 'osd']) await mkdir(join(folder, name));
  const settings = {
    fsid: at.cluster,
    'mon host': address,
    'public addr': '127.0.0.1',
    'cluster addr': '127.0.0.1',
    'osd pool default size': 1,
    'osd pool default pg num': 1,
    'mon allow pool size one': true,
    'osd crush chooseleaf type': 0,
    'osd objectstore': 'memstore',
    'mon data': join(folder, 'mon'),
    'osd data': join(folder, 'osd'),
    'rgw data': folder,
    'run dir': folder,
    keyring: join(folder, 'keyring'),
    'admin socket': '',
    'pid file': '',
    'log file': '',
    'osd class load list': '*',
    'osd class default list': '*',
    'auth allow insecure global id reclaim': false,
    'rgw frontends': `beast endpoint=127.0.0.1:${at.port}`,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  await writeFile(join(folder, 'ceph.conf'), ['[global]', ...lines, ''].join('\n'));
  const keys = ['mon.', 'client.admin', 'client.rgw', 'osd.0'];
  for (const [index, name] of keys.entries()) {
    const caps = ['mon', 'osd', 'mgr'].flatMap((daemon) => ['--cap', daemon, 'allow *']);
    const create = index === 0 ? ['--create-keyring'] : [];
    await run('ceph-authtool', [...create, 'keyring', '--gen-key', '-n', name, ...caps], { cwd: folder });
  }
  const map = ['--create', '--fsid', at.cluster, '--addv', 'a', `[${address}]`, 'monmap'];
  await run('monmaptool', map, { cwd: folder });
}

async function reached(port: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
    if (answer instanceof Response) return;
    if (attempt === attempts) throw answer;
    await delay(500);
  }
}
