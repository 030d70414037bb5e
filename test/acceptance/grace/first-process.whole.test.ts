import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { containerFlags, hasContainers } from '../../support/container.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { childOf } from '../../support/process-files.ts';
import { endOf, programCommand } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { startStopwatch } from '../../support/stopwatch.ts';

const job = ['--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', '--format', 'csv'];
const inBucket = [...job, '--out', 's3://bucket/export'];
const commands = {
  run: ['run', ...inBucket, '--grace-ms', '500'],
  'a run with a shared database': ['run', ...job, '--out', 'out', '--fleet'],
  enqueue: ['enqueue', ...inBucket],
  verify: ['verify', 's3://bucket/export'],
  status: ['status', 's3://bucket/export'],
  prune: ['prune', 's3://bucket/exports', '--keep-last', '1'],
  load: ['load', 's3://bucket/export', '--to', 'duckdb:here.duckdb'],
};

/** A server of whatever protocol that says nothing. */
async function silentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined).resume()));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, asked: once(server, 'connection').then(() => undefined) };
}

// The kernel ends a process that takes no signals, but not the first one of a container.
it.runIf(hasContainers).each(Object.entries(commands))(
  // Promise, Nothing lost: SIGTERM ends every command as process 1 of a container
  'SIGTERM ends %s as the first process of a container, before anything is under way',
  async (_, args) => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 10 });
    const { port, asked } = await silentServer();
    const database = args.at(-1) === '--fleet' ? [`postgres://tester@127.0.0.1:${port}/postgres`] : [];
    const endpoint = database.length === 0 ? { ASSET_EXPORT_OUT_ENDPOINT: `http://127.0.0.1:${port}` } : {};
    const child = spawn('unshare', [...containerFlags, ...programCommand([...args, ...database])], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_REGION: 'us-east-1',
        ASSET_EXPORT_API_KEY: 'key',
        ASSET_EXPORT_SCRATCH: join(folder, 'scratch'),
        ...endpoint,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = endOf(child);
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await Promise.race([asked, ended])).toBeUndefined();
    const pid = childOf(child.pid);
    const ms = startStopwatch(pid);
    process.kill(pid, 'SIGTERM');
    const run = await ended;
    expect(run.exit, run.stderr).toBe(143);
    expect(ms()).toBeLessThan(2500);
  },
  60_000,
);
