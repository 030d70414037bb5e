import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { valueOfCheckedJson } from '../../src/lib/hash/sha256.ts';
import { idOfBytes } from '../../src/lib/ids/asset-id.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import { writeWhole } from '../../src/places/files/disk.ts';
import type { ListOutcome } from '../../src/wings/listing/index.ts';
import { listHere } from '../support/listing/list-here.ts';
import { ListWire } from '../support/listing/list-wire.ts';
import { SimulatedIndex } from '../support/listing/simulated-index.ts';
import { everywhere, type Verdict } from './support/everywhere.ts';
import { failingAt, failures, isMet } from './support/failing-weather.ts';
import { type Fate, Killed, MemoryDisk, type Operation } from './support/memory-disk.ts';

const old = 'the list of last week\n';
const price = 10;
const concurrency = 3;

/** A list in pages of 100 rows, of which half are dropped, on a disk in memory that has an older one; run after run. */
async function smallList() {
  const disk = new MemoryDisk();
  const index = new SimulatedIndex({ rows: 1300, seed: 3, dropped: 0.5, limit: 100 });
  const wire = new ListWire(index);
  const list = await listHere(wire, { lists: { limit: 100 }, flags: { concurrency: String(concurrency) } });
  await disk.files.makeFolder(dirname(list.out));
  await writeWhole(disk.files, { path: list.out }, (file) => file.write(Buffer.from(old)));
  await disk.files.syncFolder(dirname(list.out));
  disk.restartAfterPowerLoss(() => false);
  const textOf = (path: string): string | undefined => disk.tree.fileAt(path)?.content().toString();
  return {
    disk,
    wire,
    textOf,
    list: () => textOf(list.out),
    booked: () => list.ledger.booked('2026-03-14'),
    /** Places of the pages that lie on the disk. */
    kept: (as: 'written' | 'synced') => keptPlaces(disk, `${list.out}.ids/pages.log`, as),
    leftOver: () => [...disk.tree.all().keys()].filter((path) => path.includes('.ids/') || path.endsWith('.new')),
    /** How it ended; undefined when it was killed. */
    run: (): Promise<ListOutcome | undefined> =>
      list.run({}, { files: disk.files }).catch((error: unknown) => {
        if (error instanceof Killed) return undefined;
        throw error;
      }),
  };
}

type SmallList = Awaited<ReturnType<typeof smallList>>;

function keptPlaces(disk: MemoryDisk, path: string, as: 'written' | 'synced'): string[] {
  const file = disk.tree.fileAt(path);
  const text = (as === 'written' ? file?.content() : file?.synced()) ?? Buffer.alloc(0);
  return text
    .toString()
    .split('\n')
    .flatMap((line) => {
      const entry = valueOfCheckedJson(Buffer.from(line)) as Readonly<Record<string, string>> | undefined;
      return entry?.['kind'] === 'page' ? [`${idOf(entry['after'])} ${idOf(entry['before'])}`] : [];
    });
}

function idOf(hex: string | undefined): string {
  return hex === undefined ? '' : idOfBytes(Buffer.from(hex, 'hex'));
}

/** An undisturbed list: its bytes, and all that it does to the disk. */
async function calmList() {
  const small = await smallList();
  const operations: Operation[] = [];
  small.disk.weather = (operation) => {
    operations.push(operation);
    return { kind: 'happens' };
  };
  const outcome = await small.run();
  expect(outcome?.account).toMatchObject({ proof: 'ranges' });
  return { operations, list: small.list() };
}

/** Runs the same list once more, and says everything that is not as it should be. */
async function completed(small: SmallList, calm: string | undefined, kept: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  if (small.list() !== old && small.list() !== calm) problems.push('the old list is neither kept nor replaced');
  const sent = small.wire.sent.length;
  // A list that was done is made anew by the next command.
  const isKept = new Set(small.list() === calm ? [] : kept);
  const outcome = await small.run();
  const again = small.wire.sent.slice(sent).filter(({ after, before }) => isKept.has(`${after ?? ''} ${before ?? ''}`));
  if (again.length > 0) problems.push(`${again.length} kept pages were paid for again`);
  if (outcome?.error !== undefined || outcome === undefined) problems.push(`it ends with ${String(outcome?.error)}`);
  if (small.list() !== calm) problems.push('it has other bytes');
  if (small.leftOver().length > 0) problems.push(`it leaves ${small.leftOver().join()}`);
  if (small.disk.openFiles > 0) problems.push(`${small.disk.openFiles} files are left open`);
  const over = (await small.booked()) - price * small.wire.sent.length;
  if (over < 0 || over > price * concurrency) problems.push(`${over} credits more are booked than were sent`);
  small.disk.restartAfterPowerLoss(() => false);
  if (small.list() !== calm) problems.push('a loss of power takes it away');
  return problems;
}

async function stopped(n: number, fate: Fate, calm: string | undefined, hasPower: boolean): Promise<Verdict> {
  const small = await smallList();
  let struck: Operation | undefined;
  small.disk.weather = failingAt(n, (operation) => {
    struck = operation;
    return operation.kind === 'write' ? fate : { kind: 'dies' };
  });
  await small.run();
  const kept = small.kept(hasPower ? 'written' : 'synced');
  if (hasPower) small.disk.restart();
  else small.disk.restartAfterPowerLoss(() => false);
  return { struck, problems: await completed(small, calm, kept) };
}

describe('a list whose machine stops at any operation of the disk', () => {
  const ways = [
    ['when the program is killed', { kind: 'dies' }, true],
    ['when it is killed within a write', { kind: 'dies', writtenShare: 0.5 }, true],
    ['when the power is lost, with all that was not synced', { kind: 'dies' }, false],
  ] as const;
  it.each(ways)(
    'resumes to the same bytes, keeps the old one till then, and pays for no kept page again: %s',
    async (_, fate, hasPower) => {
      const calm = await calmList();
      await everywhere(calm.operations, (n) => stopped(n, fate, calm.list, hasPower));
    },
    120_000,
  );
});

describe.each(failures)('a list whose disk fails with $code ($writtenShare of a write is written)', (failure) => {
  it('at any operation ends with 7, keeps the old one, and is completed by the same command', async () => {
    const calm = await calmList();
    await everywhere(
      calm.operations,
      async (n) => {
        const small = await smallList();
        let struck: Operation | undefined;
        small.disk.weather = failingAt(n, (operation) => {
          if (!isMet(operation, failure)) return undefined;
          struck ??= operation;
          return { kind: 'fails', ...failure };
        });
        const error = await small.run().then(
          (outcome) => outcome?.error,
          (reason: unknown) => reason,
        );
        const problems = error instanceof ExportError && error.exitCode === 7 ? [] : [`it ends with ${String(error)}`];
        const kept = small.kept('written');
        small.disk.restart();
        return { struck, problems: [...problems, ...(await completed(small, calm.list, kept))] };
      },
      (operation) => isMet(operation, failure),
    );
  }, 120_000);
});
