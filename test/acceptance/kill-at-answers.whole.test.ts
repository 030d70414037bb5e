import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mapOrdered } from '../../src/lib/map-ordered.ts';
import { verifyExport } from '../../src/exports/verify-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { sampled } from '../model/support/sample.ts';
import { type CallPoint, type SeenCall, startGeneratedService } from '../support/service/generated-service.ts';
import { idEntries, writeIdFile } from '../support/id-file.ts';
import { keptAnswers, knownBatches } from '../support/kept-answers.ts';
import { fileBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { startProgram } from '../support/run-program.ts';
import { keptFolder } from '../support/temp-folder.ts';

const shape = { entries: 60, invalidPercent: 4, duplicatePercent: 4 };
const idsPerCall = 10;
const concurrency = 3;
const batches = knownBatches(idEntries(shape), idsPerCall);
/** Answers take a while and overtake each other, so that others are in flight whenever one is looked at. */
const answers = { missingPercent: 5, delayMs: 10, jitterMs: 40 };

let root: Awaited<ReturnType<typeof keptFolder>>;
let calm: Readonly<Record<string, string>>;

beforeAll(async () => {
  root = await keptFolder();
  const { service, folder } = await setting('calm');
  const run = await runHere([...command(service.url), '--threads', '1'], optionsIn(folder));
  await service.stop();
  expect(run.exit, run.stderr).toBe(0);
  expect(service.counts().calls).toBe(batches.length);
  calm = tablesOf(folder);
});

afterAll(() => root.remove());

type Hook = (point: CallPoint, call: SeenCall) => Promise<void> | void;

async function setting(name: string, at?: Hook) {
  const folder = join(root.path, name);
  await mkdir(folder);
  await writeIdFile(join(folder, 'ids.txt'), shape);
  return { folder, service: await startGeneratedService({ ...answers, ...(at === undefined ? {} : { at }) }) };
}

function command(url: string): string[] {
  return [
    ...['run', '--ids', 'ids.txt', '--url', url, '--out', 'out', '--ids-per-call', String(idsPerCall)],
    ...['--rows-per-part', '22', '--concurrency', String(concurrency), '--format', 'csv,jsonl,raw'],
  ];
}

function optionsIn(folder: string) {
  return { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') } };
}

function tablesOf(folder: string): Readonly<Record<string, string>> {
  return fileBytes(join(folder, 'out'));
}

/** Resolves when the answer is in the journal or in a committed part. */
async function kept(folder: string, { firstId }: SeenCall): Promise<void> {
  // A journal may go between the look at its folder and the look into it.
  while (!(await keptAnswers(join(folder, 'out'), batches).catch((): string[] => [])).includes(firstId)) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Where the program is killed: a point of the exchange, and what is waited for behind it. */
const points: readonly (readonly [words: string, point: CallPoint, wait: typeof kept | undefined])[] = [
  ['before an answer, when its call has arrived', 'received', undefined],
  ['within an answer, when half of it is sent', 'half sent', undefined],
  ['after an answer, when its last byte is sent', 'sent', undefined],
  ['after an answer, when it is kept', 'sent', kept],
];

interface Kill {
  readonly name: string;
  readonly point: CallPoint;
  readonly wait: typeof kept | undefined;
  /** Of which call, by arrival. */
  readonly number: number;
}

/** Kills the program at a point of one call, runs the same command to its end, and says what was seen. */
async function killOnce({ name, point, wait, number }: Kill) {
  const { service, folder } = await setting(`${name} ${number}`, async (at, call) => {
    if (at !== point || call.number !== number) return;
    if (wait !== undefined) await Promise.race([wait(folder, call), first.ended]);
    first.child.kill('SIGKILL');
    // What the service would send now finds nobody.
    await first.ended;
  });
  const first = startProgram(command(service.url), optionsIn(folder));
  const died = await first.ended;
  const keptThen = new Set(await keptAnswers(join(folder, 'out'), batches));
  const last = await runHere([...command(service.url), '--threads', '1'], optionsIn(folder));
  await service.stop();
  const { damage } = await verifyExport(localDisk, join(folder, 'out'));
  return { folder, died, keptThen, last, damage, asked: service.counts() };
}

type Killed = Awaited<ReturnType<typeof killOnce>>;

function expectNothingLost({ folder, last, damage }: Killed): void {
  expect(last.exit, last.stderr).toBe(0);
  expect(tablesOf(folder)).toEqual(calm);
  expect(damage).toEqual([]);
  const { counts } = manifestOf(folder);
  const { read, exported, missing, invalid, duplicate, failed } = counts;
  expect(read).toBe(shape.entries);
  expect(read).toBe(exported + missing + invalid + duplicate + failed);
}

function expectNothingPaidTwice({ folder, keptThen, asked }: Killed): void {
  const again = asked.batches.filter((batch) => batch.asked > 1);
  expect(asked.batches).toHaveLength(batches.length);
  expect(Math.max(...asked.batches.map((batch) => batch.asked))).toBeLessThanOrEqual(2);
  expect(again.filter(({ firstId }) => keptThen.has(firstId))).toEqual([]);
  // What is asked for again was in flight when the program was killed: an answer keeps its slot until it is written down.
  expect(again.length).toBeLessThanOrEqual(concurrency);
  const { calls, credits } = manifestOf(folder);
  for (const counted of [calls, credits / 160]) {
    expect(counted).toBeGreaterThanOrEqual(asked.calls);
    expect(counted).toBeLessThanOrEqual(asked.calls + concurrency);
  }
}

function manifestOf(folder: string): z.infer<typeof manifestSchema> {
  return manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'out/manifest.json'), 'utf8')));
}

const outcome = z.enum(['read', 'exported', 'carried', 'missing', 'invalid', 'duplicate', 'failed']);
const manifestSchema = z.object({ calls: z.number(), credits: z.number(), counts: z.record(outcome, z.number()) });

/** The calls at which the program is killed, by arrival. */
const struck = sampled(batches.map((_, index) => index + 1));
/** Behind the last kept answer the program may have ended by itself. */
const lastStruck = struck.includes(batches.length) ? 1 : 0;

async function* numbers(): AsyncGenerator<number, void, void> {
  for (const number of struck) yield await Promise.resolve(number);
}

describe('an export that is killed', () => {
  it.each(points)(
    // Promise, Nothing lost: Killed around any answer, an export repeats at most what was under way (sampled)
    '%s, of any call, ends with the same bytes and pays for no kept answer again',
    async (name, point, wait) => {
      const runs = mapOrdered(numbers(), { limit: 2, map: (number) => killOnce({ name, point, wait, number }) });
      let kills = 0;
      let keptAnswersSeen = 0;
      for await (const killed of runs) {
        expectNothingLost(killed);
        expectNothingPaidTwice(killed);
        if (killed.died.exit === 'SIGKILL') kills += 1;
        keptAnswersSeen += killed.keptThen.size;
      }
      expect(kills).toBeGreaterThanOrEqual(wait === undefined ? struck.length : struck.length - lastStruck);
      // Before the first answer there is none to keep.
      if (wait !== undefined || Math.max(...struck) > 1) expect(keptAnswersSeen).toBeGreaterThan(0);
    },
  );
});
