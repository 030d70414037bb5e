import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/lib/exit-codes.ts';
import { verifyExport } from '../../src/exports/verify-export.ts';
import { generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { fileBytes } from '../support/run-export.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { canariesIn, everythingSaid, filesWithCanary } from './canary.ts';
import { type CaseFolder, caseFolders, casesFolder } from './case-folder.ts';
import { fatesIn } from './fates.ts';
import { type RanCase, runCase } from './run-case.ts';
import { sampledBeside } from '../model/support/sample.ts';

let folder: Awaited<ReturnType<typeof keptFolder>>;
let assets: string;

/** Of the shared ids the service knows all but the last two. */
beforeAll(async () => {
  folder = await keptFolder();
  assets = join(folder.path, 'assets.jsonl');
  const ids = readFileSync(join(casesFolder, 'ids.txt'), 'utf8').trim().split('\n');
  writeFileSync(assets, `${ids.slice(0, -2).map(generatedRecord).join('\n')}\n`);
});

afterAll(() => folder.remove());

const calm = new Map<string, Promise<Readonly<Record<string, string>>>>();

/** The files of the same job without faults, but for the manifest, which counts calls. */
function calmBytes(each: CaseFolder): Promise<Readonly<Record<string, string>>> {
  const own = readdirSync(each.path).filter((name) => !['expected.yaml', 'faults.yaml', 'outage.yaml'].includes(name));
  const { flags = {} } = each.expected;
  const same = JSON.stringify(own.length > 0 ? each.name : flags);
  const bytes = calm.get(same) ?? runCalm(each);
  calm.set(same, bytes);
  return bytes;
}

async function runCalm(each: CaseFolder): Promise<Readonly<Record<string, string>>> {
  const work = await tempFolder();
  const [ran] = await runCase(each, { work, assets, calm: true });
  expect(ran?.error).toBeUndefined();
  return tablesOf(join(work, 'out'));
}

function tablesOf(out: string): Readonly<Record<string, string>> {
  return fileBytes(out);
}

/** What the case says of one run. */
function expectRun({ expected, exitCode, outcome, error, calls, charged }: RanCase): void {
  expect(exitCode, everythingSaid(error)).toBe(exitCodes[expected.exit].code);
  if (expected.state !== undefined) expect(outcome?.state).toBe(expected.state);
  if (expected.counts !== undefined) {
    expect({ ...outcome?.account.counts, pending: outcome?.account.pending }).toMatchObject(expected.counts);
  }
  if (expected.calls !== undefined) expect(calls).toBe(expected.calls);
  if (expected.callsAtMost !== undefined) expect(calls).toBeLessThanOrEqual(expected.callsAtMost);
  if (expected.charged !== undefined) expect(charged).toBe(expected.charged);
  for (const words of expected.message ?? []) expect(error?.message).toContain(words);
  for (const words of expected.todo ?? []) expect(error?.todo).toContain(words);
}

/** What is true of every run, whatever the service does. */
function expectPromises(ran: readonly RanCase[]): void {
  for (const { outcome, job, booked, error } of ran) {
    if (outcome !== undefined) {
      const { counts, pending } = outcome.account;
      const { read, exported, missing, invalid, duplicate, failed } = counts;
      expect(read).toBe(exported + missing + invalid + duplicate + failed + pending);
    }
    for (const [day, credits] of booked) {
      expect(credits, day).toBeLessThanOrEqual(job?.budget.creditsPerDay ?? Number.POSITIVE_INFINITY);
    }
    // An error that stops a run says what to do.
    if (error !== undefined) expect(error.todo).toMatch(/\w/);
  }
  const charged = ran.reduce((sum, each) => sum + each.charged, 0);
  const booked = [...(ran.at(-1)?.booked.values() ?? [])].reduce((sum, credits) => sum + credits, 0);
  expect(booked, 'the ledger is never below what was charged').toBeGreaterThanOrEqual(charged);
}

// Promise, Nothing leaked: In no case is the key in a file, message or event
function expectNoCanary(work: string, ran: readonly RanCase[]): void {
  // The key file, and faults that make the service repeat the key.
  for (const name of ['key', 'faults.yaml']) rmSync(join(work, name), { force: true });
  expect(filesWithCanary(work)).toEqual([]);
  for (const { error, events, outcome } of ran) {
    expect(canariesIn(everythingSaid(error))).toEqual([]);
    expect(canariesIn(JSON.stringify([events, outcome]))).toEqual([]);
  }
}

/** A complete export: whole files, and exactly one fate for every entry. */
async function expectComplete(each: CaseFolder, work: string, ran: RanCase | undefined): Promise<void> {
  const out = join(work, 'out');
  const verified = await verifyExport(localDisk, out);
  expect(verified.damage).toEqual([]);
  const { exported, unexported } = await fatesIn(out);
  expect(new Set(exported).size).toBe(exported.length);
  expect(exported).toHaveLength(ran?.outcome?.account.counts.exported ?? -1);
  expect(exported.length + unexported.length).toBe(ran?.outcome?.account.counts.read);
  for (const words of ran?.expected.reasons ?? [])
    expect(unexported.map(({ reason }) => reason).join('\n')).toContain(words);
  if (each.expected.sameBytes ?? true) expect(tablesOf(out)).toEqual(await calmBytes(each));
  if (each.expected.sameRecords === true) {
    const lines = readFileSync(join(out, 'raw/assets/part-00000.jsonl'), 'utf8');
    expect(lines).toBe(readFileSync(join(each.path, 'assets.jsonl'), 'utf8'));
  }
}

/** `npm test` runs the cases that docs/reliability.md names, and every 8th of the others, from another one after each commit. */
const promised = readFileSync(join(casesFolder, '../../docs/reliability.md'), 'utf8');
const isNamed = ({ name }: CaseFolder): boolean => promised.includes(`test/cases/${name}/expected.yaml`);
const chosen = sampledBeside(caseFolders(), isNamed);

describe('a case', () => {
  it.each(chosen.map((each) => ({ ...each, about: each.expected.about })))('$name: $about', async (each) => {
    const work = await tempFolder();
    const ran = await runCase(each, { work, assets });
    for (const run of ran) expectRun(run);
    expectPromises(ran);
    expectNoCanary(work, ran);
    const last = ran.at(-1);
    if (last?.outcome !== undefined && last.outcome.state !== 'unfinished') await expectComplete(each, work, last);
    else expect(existsSync(join(work, 'out/manifest.json'))).toBe(false);
  });
});
