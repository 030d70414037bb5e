import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startMeasured } from './measured-child.ts';
import { readIn } from './measure-reading.ts';
import { commandOf, outputOf, type Place, runScenario } from './run-scenario.ts';
import { type Scenario, scenarioOf } from './scenarios.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

export interface Growth {
  readonly from: number;
  readonly to: number;
  /** Peak memory at both sizes, and without what the removal of duplicates takes, by scenario. */
  readonly peaks: readonly { readonly name: string; readonly from: number; readonly to: number }[];
  /** What the removal of duplicates takes at both sizes. */
  readonly dedupeMiB: { readonly from: number; readonly to: number };
  readonly again: Again | undefined;
}

/** A large export made a second time: with other calls at once and threads, and killed on its way. */
export interface Again {
  /** False when it had ended before. */
  readonly wasKilled: boolean;
  readonly files: number;
  /** Files whose bytes are not the same. */
  readonly different: readonly string[];
  /** Calls of both runs of it together, and those of an undisturbed one. */
  readonly calls: number;
  readonly needed: number;
  readonly callsAtOnce: number;
}

/** What becomes of memory when there are many more ids. */
export async function measureGrowth(sizes: Sizes, place: Place, tell: (line: string) => void): Promise<Growth> {
  const { grown, grownFrom, grownTo, smallExports, largeExports } = sizes;
  const peaks: { name: string; from: number; to: number }[] = [];
  let again: Again | undefined;
  for (const name of grown) {
    const scenario = scenarioOf(name);
    const peakOf = async (count: number): Promise<number> => (await runScenario(scenario, { count }, place)).peakMiB;
    const from = await medianReading(smallExports, () => peakOf(grownFrom));
    tell(`${name}, ${grownTo.toLocaleString('en')} ids`);
    peaks.push({ name, from, to: await medianReading(largeExports, () => peakOf(grownTo)) });
    if (sizes.again && name === 'CSV') again = await makeTwice(scenario, grownTo, place);
  }
  const dedupeMiBOf = (count: number): Promise<number> =>
    medianReading(sizes.dedupeReadings, () => dedupeMiB(count, place));
  return {
    from: grownFrom,
    to: grownTo,
    peaks,
    dedupeMiB: { from: await dedupeMiBOf(grownFrom), to: await dedupeMiBOf(grownTo) },
    again,
  };
}

async function medianReading(readings: number, read: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  while (values.length < readings) values.push(await read());
  return median(values);
}

/** Memory that the removal of duplicates takes: the peak of reading so many ids with it, less that without. Few ids take less than two peaks differ. */
async function dedupeMiB(count: number, { idFile, folder }: Place): Promise<number> {
  const kept = await readIn('duplicates', idFile(count), folder);
  const all = await readIn('check', idFile(count), folder);
  return Math.max(0, kept.peakMiB - all.peakMiB);
}

/** Makes an export at one go; and once more, killed when two calls in five are answered, and run to its end. */
async function makeTwice(scenario: Scenario, count: number, place: Place): Promise<Again> {
  const { server, folder } = place;
  await runScenario(scenario, { count, keep: true }, place);
  const first = await hashes(outputOf(place));
  rmSync(outputOf(place), { recursive: true });
  const callsAtOnce = 5;
  const needed = Math.ceil(count / 1000);
  const before = await server.calls();
  const command = commandOf({ ...scenario, callsAtOnce, threads: 2 }, { count }, place);
  const killed = startMeasured(command, folder);
  const died = killed.ended.then(
    () => false,
    () => true,
  );
  while ((await server.calls()) - before < needed * 0.4 && killed.child.exitCode === null) await delay(20);
  killed.child.kill('SIGKILL');
  const wasKilled = await died;
  await startMeasured(command, folder).ended;
  const second = await hashes(outputOf(place));
  rmSync(outputOf(place), { recursive: true });
  const different = [...new Set([...first.keys(), ...second.keys()])].filter(
    (path) => first.get(path) !== second.get(path),
  );
  return { wasKilled, files: second.size, different, calls: (await server.calls()) - before, needed, callsAtOnce };
}

/** SHA-256 of every file of an export, except its account and the record of its runs, which tell of calls and times. */
async function hashes(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || ['manifest.json', 'runs.jsonl'].includes(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const hash = createHash('sha256');
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
    found.set(path.slice(folder.length + 1), hash.digest('hex'));
  }
  return found;
}
