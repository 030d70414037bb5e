import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { sha256 } from '../../../src/lib/hash/sha256.ts';
import { repairExport } from '../../../src/wings/repair/repair-export.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { sampled } from '../../model/support/sample.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { exportBytes, fileBytes, runExport, runRepair } from '../../support/run-export.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';

const entries = 260;

async function service(options: GeneratedServiceOptions = { missingPercent: 5 }) {
  const running = await startGeneratedService(options);
  onTestFinished(() => running.stop());
  return running;
}

const made = new Map<string, ReturnType<typeof make>>();
const folders: Awaited<ReturnType<typeof keptFolder>>[] = [];
afterAll(() => Promise.all(folders.map(({ remove }) => remove())));

/** A finished export of six parts in three formats, 20 ids a call. */
async function make(more: Readonly<Record<string, unknown>>) {
  const kept = await keptFolder();
  folders.push(kept);
  const folder = join(kept.path, 'now');
  mkdirSync(folder);
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries, invalidPercent: 3, duplicatePercent: 3 });
  const running = await service();
  const shape = { 'ids-per-call': '20', 'rows-per-part': '45', format: 'csv,jsonl,parquet', tables: 'assets,creators' };
  await runExport({ flags: { ids, out: join(folder, 'out'), url: running.url, ...shape, ...more } });
  cpSync(folder, join(kept.path, 'made'), { recursive: true });
  return { folder, calls: running.counts().calls };
}

/** One that is made once for all tests, and put back where it was made. */
async function finished(more: Readonly<Record<string, unknown>> = {}) {
  const key = JSON.stringify(more);
  const making = made.get(key) ?? make(more);
  made.set(key, making);
  const { folder, calls } = await making;
  rmSync(folder, { recursive: true });
  cpSync(join(folder, '../made'), folder, { recursive: true });
  const now = await service();
  const { url } = now;
  const running = { url, counts: () => ({ calls: calls + now.counts().calls }) };
  // What a repair is told: where all is, and not how it was made.
  const out = join(folder, 'out');
  return { folder, out, running, flags: { ids: join(folder, 'ids.txt'), out, url }, calls };
}

/** When each file was last written, in milliseconds. */
function times(out: string): Map<string, number> {
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.filter((name) => statSync(join(out, name)).isFile()).map((name) => [name, statSync(join(out, name)).mtimeMs]),
  );
}

/** Damages a table of a part in every format, so that nothing in the export tells what it was. */
function loseTable(out: string, table: string, part: number): void {
  for (const format of ['csv', 'jsonl', 'parquet'])
    truncateSync(join(out, `${format}/${table}/part-0000${part}.${format}`), 50);
}

/** Removes a table of all parts in every format. */
function loseAll(out: string): void {
  for (const format of ['csv', 'jsonl', 'parquet']) rmSync(join(out, format, 'assets'), { recursive: true });
}

describe('a repair', () => {
  it('rebuilds from other formats and from the ids what it can, byte for byte, and requests nothing', async () => {
    const { out, running, flags, calls } = await finished();
    const whole = exportBytes(out);
    rmSync(join(out, 'csv/assets/part-00001.csv'));
    truncateSync(join(out, 'parquet/creators/part-00004.parquet'), 50);
    appendFileSync(join(out, 'unexported/part-00004.csv'), 'x');
    const outcome = await runRepair({ flags, pays: false });
    const rebuilt = ['csv/assets/part-00001.csv', 'parquet/creators/part-00004.parquet', 'unexported/part-00004.csv'];
    expect(outcome).toMatchObject({ rebuilt, parts: [], calls: 0, after: { damage: [] } });
    expect(outcome.bill).toBeUndefined();
    expect(exportBytes(out)).toEqual(whole);
    expect(running.counts().calls).toBe(calls);
  });

  it('shows what the rest costs, and requests nothing unless it is told to', async () => {
    const { out, running, flags, calls } = await finished();
    loseTable(out, 'assets', 2);
    rmSync(join(out, 'csv/assets/part-00001.csv'));
    const shown = await runRepair({ flags, pays: false });
    expect(shown).toMatchObject({ rebuilt: ['csv/assets/part-00001.csv'], parts: [], calls: 0 });
    expect(shown.after.damage).toHaveLength(3);
    expect(running.counts().calls).toBe(calls);
    expect(readdirSync(out)).not.toContain('.run');
    const paid = await runRepair({ flags });
    expect(paid).toMatchObject({ rebuilt: [], parts: [2], bill: shown.bill, ...shown.bill, after: { damage: [] } });
    expect(running.counts().calls).toBe(calls + (shown.bill?.calls ?? 0));
  });

  // Promise, Nothing lost: A repair first rebuilds files from other formats, `raw`, `assets` and ids; it keeps only equal bytes (sampled)
  it.each(sampled(['raw', 'parquet', 'jsonl', 'csv'], 4))('rebuilds every table from %s alone', async (format) => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 90, invalidPercent: 3 });
    const flags = {
      ids,
      out: join(folder, 'out'),
      url: (await service()).url,
      'exported-at': true,
      'ids-per-call': '15',
      'rows-per-part': '45',
      format: 'csv,jsonl,parquet,raw',
      compression: 'csv=gzip,jsonl=zstd,parquet=snappy',
      rename: 'id=asset',
      tables: tables.map(({ name }) => name).join(),
      'csv-dialect': 'redshift',
      'show-fungible': true,
      'show-collection-metadata': true,
    };
    await runExport({ flags });
    const whole = exportBytes(flags.out);
    const others = ['csv', 'jsonl', 'parquet', 'unexported'].filter((each) => each !== format);
    for (const each of others) rmSync(join(flags.out, each), { recursive: true });
    const outcome = await runRepair({ flags, pays: false });
    expect(outcome.after.damage).toEqual([]);
    expect(outcome.rebuilt.length).toBe(2 + 2 * tables.map(({ name }) => name).length * (others.length - 1));
    expect(exportBytes(flags.out)).toEqual(whole);
  });

  const ofAssets = [
    ['parquet', {}],
    ['jsonl', { rename: 'id=asset,creators=makers' }],
    ['csv', { 'exported-at': true }],
  ] as const;
  it.each(sampled(ofAssets, 3))('rebuilds child tables from assets in %s', async (format, flags) => {
    const { out, flags: where } = await finished({ format, tables: tables.map(({ name }) => name).join(), ...flags });
    const whole = exportBytes(out);
    for (const table of tables.map(({ name }) => name).slice(1)) rmSync(join(out, format, table), { recursive: true });
    expect((await runRepair({ flags: where, pays: false })).after.damage).toEqual([]);
    expect(exportBytes(out)).toEqual(whole);
  });

  it('does not keep a file that would be another than it was', async () => {
    const { out, flags } = await finished({ format: 'csv,parquet', tables: 'assets' });
    const csv = join(out, 'csv/assets/part-00000.csv');
    const was = readFileSync(csv);
    const other = Buffer.from(was.toString().replace(/^(.*\n){2}/, '$1'));
    // As if a program that writes other bytes had made the file.
    const manifest = join(out, 'manifest.json');
    const text = readFileSync(manifest, 'utf8')
      .replace(sha256(was), sha256(other))
      .replace(/"seal": "\w+"\n\}\n$/, '"seal": ""\n}\n');
    writeFileSync(manifest, text.replace(/"seal": ""\n\}\n$/, `"seal": "${sha256(text)}"\n}\n`));
    expect(await runRepair({ flags, pays: false })).toMatchObject({ rebuilt: [], bill: { calls: 3 } });
    expect(readFileSync(csv)).toEqual(was);
  });

  it('takes no cells that were changed for spreadsheets', async () => {
    const { out, flags } = await finished({ 'csv-formulas': 'escape', format: 'csv,jsonl', tables: 'assets' });
    const whole = exportBytes(out);
    rmSync(join(out, 'csv/assets/part-00000.csv'));
    rmSync(join(out, 'jsonl/assets/part-00001.jsonl'));
    expect((await runRepair({ flags, pays: false })).rebuilt).toEqual(['csv/assets/part-00000.csv']);
    expect(exportBytes(out)['csv/assets/part-00000.csv']).toBe(whole['csv/assets/part-00000.csv']);
  });

  it('rebuilds tables without a job', async () => {
    const { out } = await finished();
    const whole = exportBytes(out);
    rmSync(join(out, 'csv'), { recursive: true });
    const effects = { files: localDisk, stdin: process.stdin };
    expect((await repairExport({ folder: out }, effects)).after.damage).toEqual([]);
    expect(exportBytes(out)).toEqual(whole);
  });

  // Promise, Nothing lost: `verify --repair` remakes damaged parts alone, byte for byte
  it('makes the damaged parts again, only those, byte for byte, and pays for their ids alone', async () => {
    const { out, running, flags, calls } = await finished();
    const whole = exportBytes(out);
    const before = times(out);
    loseTable(out, 'assets', 1);
    loseTable(out, 'assets', 4);
    appendFileSync(join(out, 'unexported/part-00003.csv'), 'x');
    expect((await verifyExport(localDisk, out)).damage).toHaveLength(7);
    const outcome = await runRepair({ flags });
    expect(outcome.error).toBeUndefined();
    expect(outcome.rebuilt).toEqual(['unexported/part-00003.csv']);
    expect(outcome.parts).toEqual([1, 4]);
    expect(outcome.after.damage).toEqual([]);
    expect(fileBytes(out)).toEqual({ ...whole, 'manifest.json': '' });
    const touched = [...times(out)].filter(([name, at]) => before.get(name) !== at).map(([name]) => name);
    expect(touched.filter((name) => !/part-0000[14]\./.test(name)).sort()).toEqual([
      'manifest.json',
      'unexported/part-00003.csv',
    ]);
    // 45 entries lie in at most four calls of 20 ids.
    const paid = running.counts().calls - calls;
    expect(paid).toBeLessThanOrEqual(8);
    expect(outcome).toMatchObject({ calls: paid, credits: paid * 160 });
    const manifest = await readManifest(localDisk, out);
    expect(manifest).toMatchObject({ calls: calls + paid, credits: (calls + paid) * 160 });
    expect(readdirSync(out)).not.toContain('.run');
    expect((await runExport({ flags: { ...flags, ...(await flagsOf(out)) } })).state).toBe('already');
  });

  it('of an export that is whole costs nothing and changes nothing', async () => {
    const { out, flags, running, calls } = await finished();
    const whole = exportBytes(out);
    expect(await runRepair({ flags })).toMatchObject({ parts: [], calls: 0, after: { damage: [] } });
    expect(running.counts().calls).toBe(calls);
    expect(exportBytes(out)).toEqual(whole);
  });

  // Promise, Nothing overspent: A repair pays within its budget for ids of damaged parts alone, and never twice
  it('stops at the budget, and goes on without paying again', async () => {
    const { out, flags, running, calls } = await finished();
    const whole = exportBytes(out);
    loseAll(out);
    const all = Math.ceil(calls);
    const stopped = await runRepair({ flags: { ...flags, 'credits-per-run': '800' } });
    expect(stopped.error).toMatchObject({ exit: 'spent' });
    expect(stopped.calls).toBe(5);
    expect(stopped.after.damage.length).toBeGreaterThan(0);
    const outcome = await runRepair({ flags });
    expect(outcome.after.damage).toEqual([]);
    expect(fileBytes(out)).toEqual({ ...whole, 'manifest.json': '' });
    expect(running.counts().calls - calls).toBe(all);
    expect(await readManifest(localDisk, out)).toMatchObject({ calls: 2 * all });
  });

  it('goes on without paying again though the export was run meanwhile, which finds it complete', async () => {
    const { out, flags, running, calls } = await finished();
    const made = { ...flags, ...(await flagsOf(out)) };
    loseAll(out);
    expect((await runRepair({ flags: { ...flags, 'credits-per-run': '800' } })).calls).toBe(5);
    const kept = exportBytes(out);
    expect((await runExport({ flags: made })).state).toBe('already');
    expect(exportBytes(out)).toEqual(kept);
    expect((await runRepair({ flags })).after.damage).toEqual([]);
    expect(running.counts().calls).toBe(2 * calls);
    expect(await readManifest(localDisk, out)).toMatchObject({ calls: 2 * calls });
    expect(readdirSync(out)).not.toContain('.run');
  });

  it('that was stopped leaves nothing behind once the export is begun anew', async () => {
    const { out, flags } = await finished();
    const made = { ...flags, ...(await flagsOf(out)) };
    loseAll(out);
    await runRepair({ flags: { ...flags, 'credits-per-run': '800' } });
    expect((await runExport({ flags: made, fresh: true })).state).toBe('complete');
    expect(readdirSync(out)).not.toContain('.run');
  });

  it('takes what the service says now into the account', async () => {
    const { out, flags } = await finished();
    const before = await readManifest(localDisk, out);
    loseTable(out, 'assets', 2);
    const forgetful = await service({ missingPercent: 60 });
    const outcome = await runRepair({ flags: { ...flags, url: forgetful.url } });
    expect(outcome.parts).toEqual([2]);
    expect(outcome.after.damage).toEqual([]);
    const after = await readManifest(localDisk, out);
    expect(after?.counts.read).toBe(entries);
    expect(after?.counts.missing).toBeGreaterThan(before?.counts.missing ?? entries);
    expect(after?.commits.map(({ counts }) => counts.missing)).toEqual(
      before?.commits.map(({ counts }, part) =>
        part === 2 ? (after?.commits[2]?.counts.missing ?? 0) : counts.missing,
      ),
    );
  });

  it('finds the ids wherever they lie now, and refuses others', async () => {
    const { folder, out, flags, running, calls } = await finished();
    const whole = exportBytes(out);
    for (const lost of ['unexported/part-00000.csv', 'ids/part-00000.csv.gz']) rmSync(join(out, lost));
    const moved = join(folder, 'moved/elsewhere.list');
    mkdirSync(join(folder, 'moved'));
    writeFileSync(moved, readFileSync(flags.ids));
    appendFileSync(flags.ids, '\n');
    await expect(runRepair({ flags })).rejects.toMatchObject({
      exit: 'input',
      todo: expect.stringContaining('ids.txt') as string,
    });
    expect(running.counts().calls).toBe(calls);
    const outcome = await runRepair({ flags: { ...flags, ids: moved } });
    expect(outcome.after.damage).toEqual([]);
    expect(fileBytes(out)).toEqual({ ...whole, 'manifest.json': '' });
  });

  it('leaves files that are none of the export’s where they are, and still tells of them', async () => {
    const { out, flags } = await finished();
    writeFileSync(join(out, 'csv/note.txt'), 'mine');
    rmSync(join(out, 'csv/assets/part-00000.csv'));
    const outcome = await runRepair({ flags });
    expect(outcome).toMatchObject({ parts: [], calls: 0, after: { damage: [], strangers: ['csv/note.txt'] } });
    expect(outcome.bill).toBeUndefined();
    expect(readFileSync(join(out, 'csv/note.txt'), 'utf8')).toBe('mine');
  });

  it('is refused where the manifest is damaged or missing', async () => {
    const { out, flags } = await finished();
    appendFileSync(join(out, 'manifest.json'), ' ');
    await expect(runRepair({ flags })).rejects.toMatchObject({ exit: 'damaged' });
    rmSync(join(out, 'manifest.json'));
    await expect(runRepair({ flags })).rejects.toMatchObject({ exit: 'usage' });
  });

  it('brings an export of nothing its tables again', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    writeFileSync(ids, '');
    const flags = { ids, out: join(folder, 'out'), url: (await service()).url, format: 'csv,parquet' };
    await runExport({ flags });
    const whole = exportBytes(flags.out);
    for (const lost of ['parquet/assets/part-00000.parquet', 'unexported/part-00000.csv'])
      rmSync(join(flags.out, lost));
    expect((await runRepair({ flags, pays: false })).after.damage).toEqual([]);
    expect(exportBytes(flags.out)).toEqual(whole);
  });
});

/** The flags with which the export was made, as its manifest keeps them. */
async function flagsOf(out: string): Promise<Readonly<Record<string, string>>> {
  const job = (await readManifest(localDisk, out))?.job ?? {};
  return {
    'ids-per-call': String(job['service.idsPerCall']),
    'rows-per-part': String(job['output.rowsPerPart']),
    format: String(job['output.formats']),
    tables: String(job['output.tables']),
  };
}
