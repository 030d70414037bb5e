import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { observeRuns } from '../../../src/wings/observe/observe-runs.ts';
import { exportBytes, runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { followRun } from './follow-run.ts';
import { freePort } from '../../support/free-port.ts';

async function exported(flags: Readonly<Record<string, unknown>>) {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60, invalidPercent: 5 });
  const warnings: string[] = [];
  let scraped = '';
  const service = await startGeneratedService({
    at: async (point, { number }) => {
      const listen = flags['metrics-listen'];
      if (typeof listen !== 'string' || point !== 'received' || number !== 3) return;
      scraped = await (await fetch(`http://${listen}/metrics`)).text();
      expect(await (await fetch(`http://${listen}/healthz`)).text()).toBe('ok');
      expect((await fetch(`http://${listen}/`)).status).toBe(404);
    },
  });
  onTestFinished(() => service.stop());
  const run = (out: string, more: Readonly<Record<string, unknown>>) =>
    runExport({
      flags: {
        ids: join(folder, 'ids.txt'),
        url: service.url,
        out: join(folder, out),
        format: 'csv',
        'ids-per-call': '10',
        concurrency: '1',
        ...more,
      },
      context: {
        observe: observeRuns,
        listener: (event) => {
          if (event.kind === 'warning') warnings.push(event.message);
        },
      },
    });
  const outcome = await run('mine', flags);
  const bytes = exportBytes(join(folder, 'mine'));
  await run('plain', {});
  expect(bytes).toEqual(exportBytes(join(folder, 'plain')));
  return { outcome, warnings, scraped, folder };
}

it('a run is scraped while it works, and its listener closes with it', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const { outcome, scraped } = await exported({ 'metrics-listen': listen });
  expect(outcome.state).toBe('complete');
  expect(scraped).toContain('asset_export_calls_in_flight{export="mine"} 1\n');
  expect(scraped).toContain('asset_export_calls_total{outcome="answered",export="mine"} 2\n');
  await expect(fetch(`http://${listen}/metrics`)).rejects.toThrow();
});

it('a port in use ends the run with exit 2 before anything is written or sent', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 5 });
  const args = [
    'run',
    '--ids',
    'ids.txt',
    '--url',
    'http://127.0.0.1:9',
    '--out',
    'out',
    '--metrics-listen',
    String(port),
  ];
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const { exit, stderr } = await runHere(args, { cwd: folder, environment });
  expect(exit).toBe(2);
  expect(stderr).toMatch(/cannot serve metrics on \d+: the port is in use/);
  expect(await readdir(folder)).not.toContain('out');
});

it('the file is whole at the end, and keeps the last success of the run before', async () => {
  const folder = await tempFolder();
  const file = join(folder, 'metrics.prom');
  const { outcome } = await exported({ 'metrics-file': file });
  expect(outcome.state).toBe('complete');
  const text = await readFile(file, 'utf8');
  expect(text).toContain('asset_export_last_run_exit_code{export="mine"} 0\n');
  expect(await readdir(folder)).toEqual(['metrics.prom']);
  const success = /last_success_timestamp_seconds\{.*\} (\S+)/.exec(text)?.[1];
  const { run } = followRun({ metrics: { file } });
  const clock = { ...run.clock, sleep: (_: number, signal?: AbortSignal) => untilAborted(signal) };
  const observer = await observeRuns({ ...run, clock });
  await observer.end({ state: 'stopped', exit: 5 });
  const after = await readFile(file, 'utf8');
  expect(after).toContain('asset_export_last_run_exit_code{export="mine"} 5\n');
  expect(/last_success_timestamp_seconds\{.*\} (\S+)/.exec(after)?.[1]).toBe(success);
});

it.each(['no/such/folder/metrics.prom', 'folder'])(
  'a file that cannot be written (%s) is one warning',
  async (name) => {
    const folder = await tempFolder();
    await mkdir(join(folder, 'folder'));
    await writeFile(join(folder, 'folder/x'), '');
    const { outcome, warnings } = await exported({ 'metrics-file': join(folder, name) });
    expect(outcome.state).toBe('complete');
    expect(warnings).toEqual([expect.stringContaining('cannot write the metrics file')]);
  },
);

it('an export that cannot be opened ends with its exit code in the file', async () => {
  const file = join(await tempFolder(), 'metrics.prom');
  await expect(
    runExport({
      flags: {
        ids: '/no/such/ids',
        url: 'http://127.0.0.1:9',
        out: join(await tempFolder(), 'mine'),
        'metrics-file': file,
      },
      context: { observe: observeRuns },
    }),
  ).rejects.toThrow();
  expect(await readFile(file, 'utf8')).toContain('asset_export_last_run_exit_code{export="mine"} 4\n');
});

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((_, reject) => {
    if (signal?.aborted === true) reject(new Error('aborted'));
    signal?.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });
}
