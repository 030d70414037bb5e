/**
 * Reads the ids of a file in one of several ways, each as the program does it, but for the loop of `bs58.decode`.
 *
 *     node --import ts-blank-space/register bench/read-ids.ts check IDS-FILE
 *
 * Prints as JSON how many it read, how many were valid, and the CPU seconds of the reading alone. `npm run bench` has the figures.
 */
import { readFileSync } from 'node:fs';
import bs58 from 'bs58';
import { HashSet128 } from '../src/lib/hash-set-128.ts';
import type { Entries, EntryBlock } from '../src/ids/entries.ts';
import { markDuplicates } from '../src/ids/mark-duplicates.ts';
import { expandInputs } from '../src/ids/id-input.ts';
import { readIds } from '../src/ids/read/read-ids.ts';

interface Reading {
  readonly ids: number;
  readonly valid: number;
}

/** Each gets its file ready, then gives what is measured. */
const ways: Readonly<Record<string, (file: string) => () => Reading | Promise<Reading>>> = {
  check: (file) => () => read(file, false),
  duplicates: (file) => () => read(file, true),
  bs58: (file) => {
    const lines = linesOf(file);
    return () => ({
      ids: lines.length,
      valid: lines.filter((line) => bs58.decodeUnsafe(line)?.length === 32).length,
    });
  },
  Set: (file) => {
    const lines = linesOf(file);
    return () => ({ ids: lines.length, valid: new Set(lines).size });
  },
};

/** The first half a million lines: these ways are slow. */
function linesOf(file: string): string[] {
  return readFileSync(file, 'latin1')
    .slice(0, 500_000 * 45)
    .split('\n')
    .filter(Boolean);
}

async function read(file: string, dedupe: boolean): Promise<Reading> {
  const blocks = readIds(await expandInputs({ from: [file], baseDir: '/' }));
  const marked = (): AsyncIterable<Entries> => markDuplicates(blocks, new HashSet128());
  let ids = 0;
  let valid = 0;
  for await (const entries of dedupe ? marked() : entriesOf(blocks)) {
    ids += entries.length;
    valid += entries.validBetween(0, entries.length);
  }
  return { ids, valid };
}

async function* entriesOf(blocks: AsyncIterable<EntryBlock>): AsyncGenerator<Entries> {
  for await (const { entries } of blocks) yield entries;
}

const [way = 'check', file = ''] = process.argv.slice(2);
const work = ways[way]?.(file);
const before = process.cpuUsage();
const reading = await work?.();
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ ...reading, cpuS: (user + system) / 1e6 })}\n`);
