/**
 * Reads the ids of a file as the program does it.
 *
 *     node --import ts-blank-space/register bench/read-ids.ts check|duplicates IDS-FILE
 *
 * Prints as JSON how many it read, how many were valid, and the CPU seconds of the reading alone. `npm run bench` has the figures.
 */
import { HashSet128 } from '../src/lib/hash/hash-set-128.ts';
import type { Entries, EntryBlock } from '../src/core/ids/entries.ts';
import { markDuplicates } from '../src/core/ids/prepare-inputs.ts';
import { expandInputs } from '../src/core/ids/id-input.ts';
import { readIds } from '../src/core/ids/read/read-ids.ts';

const [way = '', file = ''] = process.argv.slice(2);
const before = process.cpuUsage();
const blocks = readIds(await expandInputs({ from: [file], baseDir: '/' }));
let ids = 0;
let valid = 0;
for await (const entries of way === 'duplicates' ? markDuplicates(blocks, new HashSet128()) : entriesOf(blocks)) {
  ids += entries.length;
  valid += entries.validBetween(0, entries.length);
}
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ ids, valid, cpuS: (user + system) / 1e6 })}\n`);

async function* entriesOf(blocks: AsyncIterable<EntryBlock>): AsyncGenerator<Entries> {
  for await (const { entries } of blocks) yield entries;
}
