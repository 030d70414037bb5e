import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { bucketNights } from '../../src/wings/nights/bucket-nights.ts';
import { folderNights } from '../../src/wings/nights/folder-nights.ts';
import { type NightsPlace, planPruning, prune } from '../../src/wings/nights/prune-exports.ts';
import { noCounts, noNotes } from '../../src/places/export/export-facts.ts';
import { type Manifest, manifestBytes } from '../../src/places/export/manifest.ts';
import { MemoryDisk } from '../model/support/memory-disk.ts';
import { MemoryObjects } from '../support/memory-objects.ts';

const top = '/exports/nightly';

function manifestOf(more: Partial<Manifest> = {}): Uint8Array {
  const path = 'csv/assets/part-00000.csv';
  const file = {
    path,
    format: 'csv',
    table: 'assets',
    part: 0,
    rows: 1,
    bytes: 5,
    sha256: '0'.repeat(64),
    first: 1,
    last: 1,
  };
  return manifestBytes({
    program: { name: 'asset-export', version: '0' },
    job: {},
    inputs: [],
    counts: noCounts,
    calls: 0,
    credits: 0,
    parts: 1,
    tables: {},
    files: [file],
    drift: [],
    notes: noNotes,
    commits: [],
    ...more,
  });
}

const named = { name: 'a', seal: '' };
const noChanges = { inserted: 0, updated: 0, deleted: 0, unchanged: 0 };
const diff = { from: named, to: { ...named, rows: {} }, counts: noChanges, columns: {} };
interface Case {
  readonly name: string;
  /** Files by their paths in a night; `start` is what an export begins with. */
  readonly files: Readonly<Record<string, Uint8Array | string>>;
  /** Why it is kept; absent: a complete export of this day. */
  readonly reason?: string | RegExp;
  readonly day?: string;
}

const table = { 'csv/assets/part-00000.csv': 'bytes' };

const cases: readonly Case[] = [
  { name: 'date=2026-11-09', files: { ...table, 'manifest.json': manifestOf() }, day: '2026-11-09' },
  { name: 'date=2026-11-10', files: { ...table, 'manifest.json': manifestOf() }, day: '2026-11-10' },
  {
    name: 'by-hand',
    files: { ...table, 'manifest.json': manifestOf({ startedAtMs: Date.UTC(2026, 10, 14) }) },
    day: '2026-11-14',
  },
  {
    name: 'by-hand-later',
    files: { ...table, 'manifest.json': manifestOf({ startedAtMs: Date.UTC(2026, 10, 15) }) },
    day: '2026-11-15',
  },
  { name: 'undated', files: { ...table, 'manifest.json': manifestOf() }, reason: 'its day is unknown' },
  { name: 'date=2026-11-11', files: { ...table, start: '{}' }, reason: 'unfinished' },
  { name: 'date=2026-11-12', files: { start: '{}', '.run/throwing-away': '' }, reason: 'an unfinished --fresh' },
  { name: 'changes-2026-11-13', files: { 'manifest.json': manifestOf({ kind: 'diff', diff }) }, reason: 'a diff' },
  {
    name: 'date=2026-11-16',
    files: { ...table, 'manifest.json': manifestOf(), '.run/repair/.run/start.json': '{}' },
    reason: 'an unfinished repair',
  },
  { name: 'date=2026-11-17', files: { ...table, 'manifest.json': '{}' }, reason: /^damaged: / },
  {
    name: 'date=2026-11-18',
    files: { ...table, 'manifest.json': manifestOf(), 'notes.txt': 'mine' },
    reason: 'holds another file: notes.txt',
  },
  {
    name: 'date=2026-11-19',
    files: { ...table, 'manifest.json': manifestOf({ setAside: 'unlisted' }), _SUCCESS: '' },
    day: '2026-11-19',
  },
  { name: 'in/date=2026-11-20/deep', files: { ...table, 'manifest.json': manifestOf() }, day: '2026-11-20' },
];

interface Place {
  readonly nights: NightsPlace;
  readonly names: () => Promise<readonly string[]> | readonly string[];
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  folder: async () => {
    const disk = new MemoryDisk();
    for (const { name, files } of cases) {
      for (const [path, bytes] of Object.entries(files)) {
        const file = `${top}/${name}/${path === 'start' ? '.run/start.json' : path}`;
        await disk.files.makeFolder(file.slice(0, file.lastIndexOf('/')));
        const open = await disk.files.open(file, 'create');
        await open.write(Buffer.from(bytes));
        await open.close();
      }
    }
    await disk.files.makeLink(`${top}/latest`, 'by-hand');
    const isThere = async (name: string) => (await disk.files.sizeOf(`${top}/${name}`)) !== undefined;
    return {
      nights: folderNights(disk.files, top),
      names: async () => {
        const there = await Promise.all(cases.map(async ({ name }) => ((await isThere(name)) ? [name] : [])));
        return there.flat();
      },
    };
  },
  bucket: async () => {
    const objects = new MemoryObjects();
    const store = objects.open();
    for (const { name, files } of cases)
      for (const [path, bytes] of Object.entries(files))
        await store.put(`${name}/${path === 'start' ? '.run/start.json' : path}`, { bytes: Buffer.from(bytes) });
    await store.put('latest.json', { bytes: Buffer.from('{"latest":"by-hand"}') });
    const all = (): string[] => [...objects.objects.keys()];
    return {
      nights: bucketNights(store, 's3://bucket/nightly', systemClock),
      names: () => cases.map(({ name }) => name).filter((name) => all().some((each) => each.startsWith(`${name}/`))),
    };
  },
};

describe.each(Object.entries(places))('nights in a %s', (_place, open) => {
  it.each(cases)('$name is what it is', async ({ name, reason, day }) => {
    const survey = await (await open()).nights.survey();
    const kept = survey.untouched.find((each) => each.name === name);
    const complete = survey.complete.find((each) => each.name === name);
    if (typeof reason === 'object') expect(kept?.reason).toMatch(reason);
    else expect(kept?.reason).toBe(reason);
    expect(complete?.day).toBe(day);
  });

  // Promise, Nothing misread: Nights in folders and buckets are judged alike
  it('are pruned alike: what no rule keeps goes, and with it what is set aside', async () => {
    const { nights, names } = await open();
    const plan = await planPruning(nights, { last: 1, daily: 0, weekly: 0, monthly: 0 }, { today: '2026-12-31' });
    const removed = ['date=2026-11-09', 'date=2026-11-19'];
    expect(plan.removed.map(({ name }) => name)).toEqual(removed);
    expect(plan.kept).toContainEqual({ name: 'by-hand', reasons: ['latest'] });
    await prune(nights, plan);
    expect(await names()).toEqual(cases.map(({ name }) => name).filter((name) => !removed.includes(name)));
  });
});
