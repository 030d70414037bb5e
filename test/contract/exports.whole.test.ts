import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFinished } from '../../src/exports/finished-export.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import { statusAt } from '../../src/wings/status/export-status.ts';
import { type ExportPlace, inFolder } from '../../src/core/run/homes/export-place.ts';
import { bucketFiles } from '../../src/places/export/bucket-files.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { writeIdFile } from '../support/id-file.ts';
import { MemoryBuckets } from '../support/memory-buckets.ts';
import { runExport } from '../support/run-export.ts';
import { type CallPoint, startGeneratedService } from '../support/service/generated-service.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** What each reader says of what lies at an address. `run` and `base` are also exit names; an export that is made is `complete`. */
interface Said {
  readonly status: string;
  readonly rows: string;
  readonly base: string;
  readonly run: string;
}

interface Case {
  readonly name: string;
  /** Credits of the run that makes it; without, none does. 160 a call of 10 ids; there are 60. */
  readonly credits?: number;
  /** What is put there afterwards, by path. */
  readonly puts?: Readonly<Record<string, string>>;
  readonly says: Said;
}

const begun = { status: 'stopped', rows: 'unfinished', base: 'unfinished', run: 'complete' };
const whole = 960;
const complete = { status: 'complete', rows: '60', base: 'complete', run: 'already' };
const damaged = { status: 'damaged', rows: 'damaged', base: 'damaged', run: 'damaged' };

const cases: readonly Case[] = [
  { name: 'nothing', says: { status: 'usage', rows: 'usage', base: 'input', run: 'complete' } },
  {
    name: 'files of somebody else',
    puts: { 'notes.txt': 'mine' },
    says: { status: 'usage', rows: 'usage', base: 'input', run: 'usage' },
  },
  {
    name: 'hidden files',
    puts: { '.keep': '' },
    says: { status: 'usage', rows: 'usage', base: 'input', run: 'complete' },
  },
  { name: 'answers and no part', credits: 160, says: begun },
  { name: 'two parts of three', credits: 640, says: begun },
  { name: 'an unfinished --fresh of it', credits: 640, puts: { '.run/throwing-away': '' }, says: begun },
  { name: 'a complete export', credits: whole, says: complete },
  { name: 'files of somebody else in it', credits: whole, puts: { 'notes.txt': 'mine' }, says: complete },
  { name: 'an unfinished repair of it', credits: whole, puts: { '.run/repair/.run/start.json': '{}' }, says: complete },
  {
    name: 'an unfinished --fresh of a complete one',
    credits: whole,
    puts: { '.run/throwing-away': '' },
    says: complete,
  },
  { name: 'a manifest that is cut', credits: whole, puts: { 'manifest.json': '{"version"' }, says: damaged },
  { name: 'a manifest of a later version', credits: whole, puts: { 'manifest.json': '{"version":99}' }, says: damaged },
];

interface Place {
  readonly address: string;
  readonly export: ExportPlace;
  readonly context: object;
  readonly flags: Readonly<Record<string, string>>;
  put(name: string, text: string): Promise<void>;
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  folder: async () => {
    const address = join(await tempFolder(), 'out');
    return {
      address,
      context: {},
      flags: {},
      export: inFolder(localDisk, address),
      put: async (name, text) => {
        mkdirSync(dirname(join(address, name)), { recursive: true });
        writeFileSync(join(address, name), text);
      },
    };
  },
  bucket: async () => {
    const address = 's3://bucket/out';
    const { openStore } = new MemoryBuckets();
    const store = await openStore({ address });
    return {
      address,
      context: { openStore },
      flags: { scratch: await tempFolder() },
      export: { files: bucketFiles(store, address), folder: address, store },
      put: (name, text) => store.put(name, { bytes: Buffer.from(text) }),
    };
  },
};

/** A service, ids for six calls, and how they are exported to a place; a run tells its error or the state it left. */
async function runner(place: Place, at?: (point: CallPoint) => Promise<void>) {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 60 });
  const service = await startGeneratedService(at === undefined ? {} : { at });
  onTestFinished(() => service.stop());
  const shape = { format: 'csv', 'ids-per-call': '10', 'rows-per-part': '20', threads: '1', concurrency: '1' };
  const run = (flags: Readonly<Record<string, string>>, fresh = false): Promise<string> => {
    const all = { ids, url: service.url, ...shape, 'dead-after-seconds': '1', base: 'none', ...place.flags, ...flags };
    return runExport({ flags: all, fresh, context: place.context }).then(
      ({ error, state }) => error?.exit ?? state,
      exitOf,
    );
  };
  return { folder, run };
}

function saidBy({ export: place }: Place) {
  return {
    status: statusAt(place, systemClock.now()).then(({ state }) => state, exitOf),
    rows: openFinished(place.folder, place.files).then(({ manifest }) => String(manifest.counts.exported), exitOf),
  };
}

describe.each(Object.entries(places))('an export in a %s', (_name, open) => {
  it.each(cases)('$name', async ({ credits, puts = {}, says }) => {
    const place = await open();
    const { folder, run } = await runner(place);
    if (credits !== undefined) await run({ out: place.address, 'credits-per-run': String(credits) });
    for (const [name, text] of Object.entries(puts)) await place.put(name, text);
    const { status, rows } = saidBy(place);
    expect({
      status: await status,
      rows: await rows,
      base: await run({ out: join(folder, 'next'), base: place.address }),
      run: await run({ out: place.address }),
    }).toEqual(says);
  });

  // Promise, Nothing misread: Folder and bucket agree on which exports are complete, unfinished, damaged or held
  it('of a living process', async () => {
    const place = await open();
    let letAnswer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => (letAnswer = resolve));
    let tellCall = (): void => undefined;
    const hasCalled = new Promise<void>((resolve) => (tellCall = resolve));
    const { folder, run } = await runner(place, (point) => {
      if (point === 'received') tellCall();
      return mayAnswer;
    });
    const holder = run({ out: place.address });
    await hasCalled;
    const { status, rows } = saidBy(place);
    expect({
      status: await status,
      rows: await rows,
      base: await run({ out: join(folder, 'next'), base: place.address }),
      run: await run({ out: place.address }),
      fresh: await run({ out: place.address }, true),
    }).toEqual({ status: 'running', rows: 'unfinished', base: 'unfinished', run: 'locked', fresh: 'locked' });
    letAnswer();
    expect(await holder).toBe('complete');
  });
});

function exitOf(error: unknown): string {
  if (error instanceof ExportError) return error.exit;
  throw error;
}
