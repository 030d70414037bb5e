import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type GeneratedService, startGeneratedService } from '../support/service/generated-service.ts';
import { idEntries, writeIdFile } from '../support/id-file.ts';
import { keptAnswers, knownBatches } from '../support/kept-answers.ts';
import { runsAll } from '../support/lane.ts';
import { exportBytes, fileBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram, startProgram, told } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const idsPerCall = 10;
const concurrency = 6;
/** Parts and calls end at different entries, so that most stretches share a call. */
const shape = { entries: runsAll ? 2000 : 400, invalidPercent: 2, duplicatePercent: 2 };

interface Setting {
  readonly folder: string;
  readonly command: (service: GeneratedService, out: string, threads: number) => string[];
  readonly options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> };
}

async function setting(): Promise<Setting> {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), shape);
  return {
    folder,
    command: (service, out, threads) => [
      ...['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, '--threads', String(threads)],
      ...['--ids-per-call', String(idsPerCall), '--rows-per-part', '123', '--concurrency', String(concurrency)],
      ...['--format', 'parquet,csv,jsonl,raw', '--tables', 'assets,creators', '--compression', 'jsonl=zstd'],
    ],
    options: { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') } },
  };
}

const threadCounts = runsAll ? [2, 3] : [2];

interface Made {
  readonly bytes: Readonly<Record<string, string>>;
  readonly calls: number;
}

let calm: Promise<Made> | undefined;

/** What one thread makes, which nothing disturbs. */
function calmly(): Promise<Made> {
  return (calm ??= made(1));
}

async function made(threads: number): Promise<Made> {
  const { folder, command, options } = await setting();
  const service = await startGeneratedService({ missingPercent: 3, jitterMs: 10 });
  const run = await (threads === 1 ? runHere : runProgram)(command(service, 'out', threads), options);
  await service.stop();
  expect(run.exit, run.stderr).toBe(0);
  return { bytes: exportBytes(join(folder, 'out')), calls: service.counts().calls };
}

function askedCounts(service: GeneratedService): Map<string, number> {
  return new Map(service.counts().batches.map(({ firstId, asked }) => [firstId, asked]));
}

async function sent(service: GeneratedService, calls: number): Promise<void> {
  while (service.counts().calls < calls) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('the program with threads', () => {
  it(`writes the same bytes with ${runsAll ? '1, 2 and 3' : '1 and 2'}, in as many calls`, async () => {
    expect((await calmly()).calls).toBe(knownBatches(idEntries(shape), idsPerCall).length);
    for (const threads of threadCounts) expect(await made(threads)).toEqual(await calmly());
  });

  // Promise, Nothing lost: Threaded runs killed again and again end with the same bytes (sampled)
  it('killed with SIGKILL again and again ends with the same bytes, and asks for no kept answer again', async () => {
    const { folder, command, options } = await setting();
    const batches = knownBatches(idEntries(shape), idsPerCall);
    const service = await startGeneratedService({ missingPercent: 3, jitterMs: 20 });
    const askedWhenKept = new Map<string, number>();
    const kills = runsAll ? 12 : 2;
    for (let kill = 1; kill <= kills; kill += 1) {
      const { child, ended } = startProgram(command(service, 'killed', 2 + (kill % 2)), options);
      await Promise.race([sent(service, Math.floor((kill * batches.length) / kills)), ended]);
      child.kill('SIGKILL');
      await ended;
      const asked = askedCounts(service);
      for (const first of await keptAnswers(join(folder, 'killed'), batches)) {
        if (!askedWhenKept.has(first)) askedWhenKept.set(first, asked.get(first) ?? 0);
      }
    }
    expect(askedWhenKept.size).toBeGreaterThan(batches.length / 2);
    const last = await runProgram(command(service, 'killed', 2), options);
    expect(last.exit, last.stderr).toBe(0);
    const asked = askedCounts(service);
    for (const [first, count] of askedWhenKept) expect(asked.get(first), first).toBe(count);
    expect(service.counts().calls - batches.length).toBeLessThanOrEqual(kills * concurrency);
    await service.stop();
    const { bytes } = await calmly();
    expect(fileBytes(join(folder, 'killed'))).toEqual({ ...bytes, 'manifest.json': '' });
  }, 300_000);

  it('stopped by a signal begins no new call and keeps the answers in flight', async () => {
    const { folder, command, options } = await setting();
    const slow = await startGeneratedService({ delayMs: 2000 });
    const { child, ended } = startProgram(command(slow, 'out', 2), options);
    await sent(slow, concurrency);
    const answered = slow.counts().batches.filter((batch) => batch.answered > 0).length;
    child.kill('SIGINT');
    const run = await ended;
    await slow.stop();
    expect(run.exit, run.stderr).toBe(130);
    expect(run.stderr).not.toContain('    at ');
    expect(slow.counts().calls).toBeLessThanOrEqual(answered + concurrency);
    const batches = knownBatches(idEntries(shape), idsPerCall);
    expect(await keptAnswers(join(folder, 'out'), batches)).toHaveLength(slow.counts().calls);
  });

  it('ends at the second signal, though the service hangs', async () => {
    const { command, options } = await setting();
    const hangs = new Promise<void>(() => undefined);
    const hanging = await startGeneratedService({
      at: (point, { number }) => (point === 'received' && number > 3 ? hangs : undefined),
    });
    const { child, ended } = startProgram([...command(hanging, 'out', 2), '--grace-ms', '3600000'], options);
    await sent(hanging, concurrency);
    const heard = told(child, 'no new calls');
    child.kill('SIGTERM');
    await heard;
    child.kill('SIGTERM');
    expect((await ended).exit).toBe(143);
    await hanging.stop();
  });

  it('ends in plain words when the address is that of something else', async () => {
    const { command, options } = await setting();
    const service = await startGeneratedService();
    const elsewhere = { ...service, url: `${service.url}/nothing-here` };
    const run = await runProgram(command(elsewhere, 'out', 2), options);
    await service.stop();
    expect(run.exit, run.stderr).toBe(5);
    expect(run.stderr).toContain("does not speak this service's interface");
    expect(run.stderr).not.toContain('    at ');
  });
});
