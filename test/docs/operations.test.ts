import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { CronJob } from 'kubernetes-models/batch/v1';
import { ConfigMap, PersistentVolumeClaim } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { exitCodes, type ExitName } from '../../src/lib/exit-codes.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/service/start-service.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { type ReaderFolder, readerFolder, runBlock } from './reader-folder.ts';
import { unreadMembers } from './unread-members.ts';

const folder = fileURLToPath(new URL('../../docs/operations/', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** What another run within minutes may help. */
const retried: readonly ExitName[] = ['unavailable', 'locked', 'interrupted', 'terminated'];
const codesOf = (names: readonly ExitName[]): number[] => names.map((name) => exitCodes[name].code);

/** Least time to stop: the grace of answers in flight is 20 s. */
const leastStopSeconds = 30;

describe('the systemd unit', () => {
  const service = textOf('asset-export.service');

  it.runIf(has('systemd-analyze'))('and its timer are accepted by systemd-analyze verify', () => {
    const units = ['asset-export.service', 'asset-export.timer'].map((name) => join(folder, name));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });

  it('restarts what a retry may help, and leaves time to stop', () => {
    const restarted = /^RestartForceExitStatus=(.*)$/m.exec(service)?.[1]?.split(' ').map(Number);
    expect(restarted).toEqual(codesOf(['unavailable', 'locked']));
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(service)?.[1])).toBeGreaterThanOrEqual(leastStopSeconds);
    const state = /^StateDirectory=(.*)$/m.exec(service)?.[1] ?? '';
    expect(service).toContain(`Environment=ASSET_EXPORT_STATE=/var/lib/${state}\n`);
  });
});

describe('the logrotate file', () => {
  it.runIf(has('logrotate'))('is accepted by logrotate', async () => {
    const cwd = await tempFolder();
    const config = join(cwd, 'config');
    const { username } = userInfo();
    const group = spawnSync('id', ['-gn'], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(join(cwd, 'run.log'), 'x');
    const text = textOf('asset-export.logrotate').replace('su asset-export asset-export', `su ${username} ${group}`);
    writeFileSync(config, text.replace('/srv/assets', cwd), { mode: 0o644 });
    const { stderr } = spawnSync('logrotate', ['-d', '-s', join(cwd, 'state'), config], { encoding: 'utf8' });
    expect(stderr).not.toMatch(/^error/m);
    expect(stderr).toContain(`considering log ${join(cwd, 'run.log')}`);
  });
});

describe('the Kubernetes objects', () => {
  const documents = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => z.looseObject({}).parse(each.toJS()));

  it('fit the published schema, and have no member that it does not name', () => {
    expect(documents.map(({ kind }) => kind)).toEqual(['ConfigMap', 'PersistentVolumeClaim', 'CronJob']);
    const unread = [ConfigMap, PersistentVolumeClaim, CronJob].flatMap(({ prototype }, index) => {
      const { value, unread } = unreadMembers(documents[index] ?? {});
      // The constructor would copy the object, and so read all of it.
      Reflect.apply(Reflect.get(prototype, 'validate'), value, []);
      return unread();
    });
    expect(unread).toEqual([]);
  });

  it('fail the Job for each exit code that a retry cannot help, and for no other', () => {
    const failing = /values: (\[.*\])/.exec(textOf('kubernetes.yaml'))?.[1] ?? '[]';
    // A load ends with 9, never a run.
    const hopeless = Object.values(exitCodes)
      .map(({ code }) => code as number)
      .filter((code) => code !== 0 && code !== 9 && !codesOf(retried).includes(code));
    expect(JSON.parse(failing)).toEqual(hopeless);
  });

  it('keep the ledger on the volume, and leave time to stop', () => {
    const text = textOf('kubernetes.yaml');
    const state = /name: ASSET_EXPORT_STATE\n +value: (.*)\n/.exec(text)?.[1] ?? '';
    expect(text).toContain(`{ name: volume, mountPath: ${state}, `);
    expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(leastStopSeconds);
  });
});

describe('the Dockerfile', () => {
  const text = textOf('Dockerfile');

  it('has nothing that a linter reports', () => {
    expect(validate(text)).toEqual([]);
  });

  it('runs the program as process 1 and not as root, with the ledger on a volume', () => {
    expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? '')).toEqual(['asset-export']);
    expect(/^USER (\d+)/m.exec(text)?.[1]).toBe('1000');
    const state = /^ENV ASSET_EXPORT_STATE=(.*)$/m.exec(text)?.[1];
    expect(JSON.parse(/^VOLUME (.*)$/m.exec(text)?.[1] ?? '')).toContain(state);
  });
});

it.runIf(has('python3'))('the Airflow file is Python', async () => {
  const copy = join(await tempFolder(), 'dag.py');
  cpSync(join(folder, 'airflow_dag.py'), copy);
  const { status, stderr } = spawnSync('python3', ['-m', 'py_compile', copy], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('the command of', () => {
  let temp: Awaited<ReturnType<typeof keptFolder>>;
  let service: RunningService;
  let reader: ReaderFolder;

  beforeAll(async () => {
    temp = await keptFolder();
    const assets = [join(root, 'data/assets.jsonl.gz')];
    service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
    reader = await readerFolder(temp.path, service.url);
    const job = readFileSync(join(root, 'docs/operations.md'), 'utf8').match(/^asset-export init .*$/m)?.[0] ?? '';
    const prepare = `${job}\nmkdir /srv/assets/ids && cp data/ids.txt /srv/assets/ids/ && echo any > /srv/assets/secrets/service-key`;
    expect(await runBlock(prepare, reader)).toMatchObject({ exit: 0 });
  }, 60_000);

  afterAll(async () => {
    await service.close();
    await temp.remove();
  });

  it('the systemd unit exports', async () => {
    const start = /^ExecStart=(.*)$/m.exec(textOf('asset-export.service'))?.[1] ?? '';
    const script = `cd /srv/assets; export CREDENTIALS_DIRECTORY=/srv/assets/secrets; exec ${start}`;
    expect(await runBlock(script, reader)).toMatchObject({ exit: 0 });
  });

  it('the crontab exports without a word, and prints the exit code of a run that failed', async () => {
    const line = /^5 0 \* \* \* asset-export (.*)$/m.exec(textOf('asset-export.cron'))?.[1] ?? '';
    expect(await runBlock(line, reader)).toEqual({ exit: 0, output: '' });
    const failing = line.replace('job.yaml', 'none.yaml');
    expect((await runBlock(failing, reader)).output).toMatch(/^asset-export: exit 2\n[^]*cannot read the job file/);
  });

  it('the CronJob exports with the job of its ConfigMap', async () => {
    const [map] = parseAllDocuments(textOf('kubernetes.yaml'));
    const text = z.object({ data: z.object({ 'job.yaml': z.string() }) }).parse(map?.toJS()).data['job.yaml'];
    mkdirSync(join(reader.path, 'config'));
    const moved = text
      .replaceAll('/data/', `${reader.path}/assets/`)
      .replace('/secrets/', `${reader.path}/assets/secrets/`);
    writeFileSync(join(reader.path, 'config/job.yaml'), moved.replace('https://service.example', service.url));
    const args = /args: \[(.*)\]/.exec(textOf('kubernetes.yaml'))?.[1]?.replaceAll(',', '') ?? '';
    expect(await runBlock(`asset-export ${args.replace('/config', 'config')}`, reader)).toMatchObject({ exit: 0 });
  });

  it('each task of the Airflow file ends well, one after the other', async () => {
    const text = textOf('airflow_dag.py');
    const out = (/^OUT = "(.*)"$/m.exec(text)?.[1] ?? '').replace('{{ ds }}', '2026-11-20');
    const commands = [...text.matchAll(/bash_command=f"(.*)"/g)].map(([, line = '']) => line.replace('{OUT}', out));
    expect(commands).toHaveLength(3);
    for (const command of commands) expect(await runBlock(command, reader)).toMatchObject({ exit: 0 });
  });
});
