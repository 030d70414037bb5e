import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifyExport } from '../../src/pipeline/verify-export.ts';
import { diskFileStore } from '../../src/store/file-store.ts';
import { readManifest } from '../../src/store/manifest.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes, runExport, runRepair } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const entries = 260;

async function service(options: GeneratedServiceOptions = { missingPercent: 5 }) {
  const running = await startGeneratedService(options);
  onTestFinished(() => running.stop());
  return running;
}

/** A finished export of six parts in three formats, 20 ids a call. */
async function finished() {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries, invalidPercent: 3, duplicatePercent: 3 });
  const running = await service();
  const out = join(folder, 'out');
  const made = { 'ids-per-call': '20', 'rows-per-part': '45', format: 'csv,jsonl,parquet', tables: 'assets,creators' };
  await runExport({ flags: { ids, out, url: running.url, ...made } });
  // What a repair is told: where all is, and not how it was made.
  return { folder, out, running, flags: { ids, out, url: running.url }, calls: running.counts().calls };
}

/** When each file was last written, in milliseconds. */
function times(out: string): Map<string, number> {
  const names = readdirSync(out, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.filter((name) => statSync(join(out, name)).isFile()).map((name) => [name, statSync(join(out, name)).mtimeMs]),
  );
}

describe('a repair', () => {
  it('makes the damaged parts again, only those, byte for byte, and pays for their ids alone', async () => {
    const { out, running, flags, calls } = await finished();
    const whole = exportBytes(out);
    const before = times(out);
    rmSync(join(out, 'csv/assets/part-00001.csv'));
    truncateSync(join(out, 'parquet/creators/part-00004.parquet'), 50);
    appendFileSync(join(out, 'unexported/part-00004.csv'), 'x');
    expect((await verifyExport(diskFileStore, out)).damage).toHaveLength(3);
    const outcome = await runRepair({ flags });
    expect(outcome.error).toBeUndefined();
    expect(outcome.parts).toEqual([1, 4]);
    expect(outcome.after.damage).toEqual([]);
    expect({ ...exportBytes(out), 'manifest.json': '' }).toEqual({ ...whole, 'manifest.json': '' });
    const touched = [...times(out)].filter(([name, at]) => before.get(name) !== at).map(([name]) => name);
    expect(touched.filter((name) => !/part-0000[14]\./.test(name))).toEqual(['manifest.json']);
    // 45 entries lie in at most four calls of 20 ids.
    const paid = running.counts().calls - calls;
    expect(paid).toBeLessThanOrEqual(8);
    expect(outcome).toMatchObject({ calls: paid, credits: paid * 160 });
    const manifest = await readManifest(diskFileStore, out);
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

  it('stops at the budget, and goes on without paying again', async () => {
    const { out, flags, running, calls } = await finished();
    const whole = exportBytes(out);
    rmSync(join(out, 'csv'), { recursive: true });
    const all = Math.ceil(calls);
    const stopped = await runRepair({ flags: { ...flags, 'credits-per-run': '800' } });
    expect(stopped.error).toMatchObject({ exit: 'spent' });
    expect(stopped.calls).toBe(5);
    expect(stopped.after.damage.length).toBeGreaterThan(0);
    const outcome = await runRepair({ flags });
    expect(outcome.after.damage).toEqual([]);
    expect({ ...exportBytes(out), 'manifest.json': '' }).toEqual({ ...whole, 'manifest.json': '' });
    expect(running.counts().calls - calls).toBe(all);
    expect(await readManifest(diskFileStore, out)).toMatchObject({ calls: 2 * all });
  });

  it('goes on without paying again though the export was run meanwhile, which finds it complete', async () => {
    const { out, flags, running, calls } = await finished();
    const made = { ...flags, ...(await flagsOf(out)) };
    rmSync(join(out, 'csv'), { recursive: true });
    expect((await runRepair({ flags: { ...flags, 'credits-per-run': '800' } })).calls).toBe(5);
    const kept = exportBytes(out);
    expect((await runExport({ flags: made })).state).toBe('already');
    expect(exportBytes(out)).toEqual(kept);
    expect((await runRepair({ flags })).after.damage).toEqual([]);
    expect(running.counts().calls).toBe(2 * calls);
    expect(await readManifest(diskFileStore, out)).toMatchObject({ calls: 2 * calls });
    expect(readdirSync(out)).not.toContain('.run');
  });

  it('that was stopped leaves nothing behind once the export is begun anew', async () => {
    const { out, flags } = await finished();
    const made = { ...flags, ...(await flagsOf(out)) };
    rmSync(join(out, 'csv'), { recursive: true });
    await runRepair({ flags: { ...flags, 'credits-per-run': '800' } });
    expect((await runExport({ flags: made, fresh: true })).state).toBe('complete');
    expect(readdirSync(out)).not.toContain('.run');
  });

  it('takes what the service says now into the account', async () => {
    const { out, flags } = await finished();
    const before = await readManifest(diskFileStore, out);
    rmSync(join(out, 'jsonl/assets/part-00002.jsonl'));
    const forgetful = await service({ missingPercent: 60 });
    const outcome = await runRepair({ flags: { ...flags, url: forgetful.url } });
    expect(outcome.parts).toEqual([2]);
    expect(outcome.after.damage).toEqual([]);
    const after = await readManifest(diskFileStore, out);
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
    rmSync(join(out, 'unexported/part-00000.csv'));
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
    expect({ ...exportBytes(out), 'manifest.json': '' }).toEqual({ ...whole, 'manifest.json': '' });
  });

  it('leaves files that are none of the export’s where they are, and still tells of them', async () => {
    const { out, flags } = await finished();
    writeFileSync(join(out, 'csv/note.txt'), 'mine');
    rmSync(join(out, 'csv/assets/part-00000.csv'));
    const outcome = await runRepair({ flags });
    expect(outcome.parts).toEqual([0]);
    expect(outcome.after.damage).toEqual([{ path: 'csv/note.txt', problem: 'it is no file of this export' }]);
  });

  it('is refused where the manifest is damaged or missing', async () => {
    const { out, flags } = await finished();
    appendFileSync(join(out, 'manifest.json'), ' ');
    await expect(runRepair({ flags })).rejects.toMatchObject({ exit: 'damaged' });
    rmSync(join(out, 'manifest.json'));
    await expect(runRepair({ flags })).rejects.toMatchObject({ exit: 'damaged' });
  });

  it('brings an export of nothing its tables again', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    writeFileSync(ids, '');
    const flags = { ids, out: join(folder, 'out'), url: (await service()).url, format: 'csv,parquet' };
    await runExport({ flags });
    const whole = exportBytes(flags.out);
    rmSync(join(flags.out, 'parquet/assets/part-00000.parquet'));
    expect((await runRepair({ flags })).parts).toEqual([0]);
    expect(exportBytes(flags.out)).toEqual(whole);
  });
});

/** The flags with which the export was made, as its manifest keeps them. */
async function flagsOf(out: string): Promise<Readonly<Record<string, string>>> {
  const job = (await readManifest(diskFileStore, out))?.job ?? {};
  return {
    'ids-per-call': String(job['service.idsPerCall']),
    'rows-per-part': String(job['output.rowsPerPart']),
    format: String(job['output.formats']),
    tables: String(job['output.tables']),
  };
}
