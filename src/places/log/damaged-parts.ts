import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { FileFacts } from '../export/export-facts.ts';
import { inTurns, type ObjectStore } from '../objects/object-store.ts';
import { commitsOf, readLogs } from './slice-log.ts';

interface Committed {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** A store may show an object a moment after it was put: so often it is looked for again, after so many milliseconds each. */
const looksAgain = 5;
const lookAgainMs = 1000;

/** What is wrong with a file of each part that is damaged, by part: its path and a sentence. Bytes in a folder are not read. */
export async function partsWithDamage(
  { store, clock }: Committed,
  files: readonly FileFacts[],
): Promise<ReadonlyMap<number, string>> {
  const damaged = new Map<number, string>();
  await inTurns(files, async ({ path, part, bytes, sha256 }) => {
    let found = await store.look(path);
    for (let look = 0; found === undefined && store.isShared && look < looksAgain; look += 1) {
      await clock.sleep(lookAgainMs);
      found = await store.look(path);
    }
    if (found?.bytes === bytes && (found.sha256 ?? sha256) === sha256) return;
    const now =
      found === undefined ? 'is missing' : found.bytes === bytes ? 'has other bytes' : `has ${found.bytes} now`;
    damaged.set(part, `${path} was committed with ${bytes} bytes, but ${now}`);
  });
  return damaged;
}

/** Takes the commits of parts out of the logs, so that the next run makes them again. Gives how many there were. */
export async function withdrawCommits(
  { store, address }: Pick<Committed, 'store'> & { readonly address: string },
  parts: ReadonlyMap<number, string>,
): Promise<number> {
  let withdrawn = 0;
  for (const log of (await readLogs({ store })).values()) {
    const all = commitsOf([log]);
    const commits = all.filter(({ part }) => !parts.has(part));
    if (commits.length === all.length) continue;
    const by = { nonce: randomUUID(), spent: log.state.spent };
    await log.append({ kind: 'claim', ...by, scratch: address, commits });
    await log.append({ kind: 'release', ...by, answered: 0 });
    withdrawn += all.length - commits.length;
  }
  return withdrawn;
}
