import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { night } from '../../support/nights.ts';
import { runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const known = Array.from({ length: 12 }, (_, n) => generatedId(5, n));
const records = known.slice(1).map(generatedRecord);
const [first = '', second = ''] = known;
/** One is missing, one repeated, and two are none. */
const listed = [first, second, '=no, "id"?', second, '', ...known.slice(2)];
const small = { 'ids-per-call': '4', 'rows-per-part': '6', format: 'csv' };

/** A night of the ids as JSON texts. */
async function listedNight(more: Partial<Parameters<typeof night>[0]> = {}) {
  const folder = await tempFolder();
  const [out, idFile] = [more.out ?? join(folder, 'out'), more.idFile ?? join(folder, 'ids.jsonl')];
  const flags = { ...small, ...more.flags };
  const ids = listed.map((id) => JSON.stringify(id));
  const outcome = await night({ day: 0, records, ids, ...more, idFile, out, flags });
  return { out, idFile, outcome };
}

/** The files of kept ids of a folder, as its manifest names them, and their lines. */
async function keptIn(folder: string) {
  const manifest = await readManifest(localDisk, folder);
  const files = (manifest?.files ?? []).filter(({ table }) => table === 'ids');
  const texts = files.map(({ path }) => gunzipSync(readFileSync(join(folder, path))).toString());
  return { manifest, files, texts };
}

describe('the ids of an export', () => {
  // Promise, Nothing lost: Parts keep the ids as they were read, and `verify` checks them
  it('are kept in its parts, each entry as it was read', async () => {
    const { out, idFile } = await listedNight({ flags: { 'csv-formulas': 'escape', 'csv-dialect': 'snowflake' } });
    const { manifest, files, texts } = await keptIn(out);
    const states = ['valid', 'valid', 'invalid', 'duplicate', 'invalid: an empty string'];
    const shown = new Map([
      ['=no, "id"?', '"=no, ""id""?"'],
      ['', '""'],
    ]);
    const rows = listed.map((id, n) => `${idFile},${n + 1},${shown.get(id) ?? id},${states[n] ?? 'valid'}\n`);
    const lines = texts.map((text) => text.replace('source,line,id,state\n', ''));
    expect(lines.join('')).toBe(rows.join(''));
    expect(files.length).toBeGreaterThan(1);
    for (const [part, file] of files.entries()) {
      const unexported = manifest?.files.find((each) => each.part === part && each.table === 'unexported');
      const read = manifest?.commits[part]?.counts.read;
      expect(file).toMatchObject({ path: `ids/part-0000${part}.csv.gz`, format: 'csv', rows: read });
      expect(file).toMatchObject({ first: unexported?.first, last: unexported?.last });
    }
    expect(Object.keys(manifest?.tables ?? {})).toEqual(['assets']);
    expect((await verifyExport(localDisk, out)).damage).toEqual([]);
    rmSync(join(out, 'ids/part-00001.csv.gz'));
    expect((await verifyExport(localDisk, out)).damage).toEqual([
      { path: 'ids/part-00001.csv.gz', problem: 'it is missing' },
    ]);
  });

  it('are a list themselves, for one who names their file', async () => {
    const { out } = await listedNight({ flags: { 'rows-per-part': '100' } });
    const service = await startGeneratedService();
    const flags = { ids: join(out, 'ids/part-00000.csv.gz'), out: join(await tempFolder(), 'again'), url: service.url };
    const { account } = await runExport({ flags });
    await service.stop();
    expect(account.counts).toMatchObject({ read: listed.length, exported: known.length, duplicate: 1, invalid: 2 });
  });

  it('are not kept where the job says so', async () => {
    const { out } = await listedNight({ output: { keepIds: false } });
    expect(existsSync(join(out, 'ids'))).toBe(false);
    expect((await keptIn(out)).manifest?.job).not.toHaveProperty('output.keepIds');
    expect((await verifyExport(localDisk, out)).damage).toEqual([]);
  });

  it.each([true, false])('are kept or not as the export began: %s', async (keepIds) => {
    const stopped = await listedNight({ output: { keepIds }, flags: { 'credits-per-run': '320' } });
    expect(stopped.outcome).toMatchObject({ state: 'unfinished' });
    const again = await listedNight({ ...stopped, output: { keepIds: !keepIds } });
    expect(again.outcome.state).toBe('complete');
    const { files, manifest } = await keptIn(stopped.out);
    expect(files).toHaveLength(keepIds ? (manifest?.parts ?? 0) : 0);
    expect((await verifyExport(localDisk, stopped.out)).damage).toEqual([]);
    // Nor does it matter to an export that is complete.
    expect((await listedNight({ ...stopped, output: { keepIds: !keepIds } })).outcome.callsOfRun).toBe(0);
  });
});
