import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { NamedRow } from '../../src/core/records/table.ts';
import { readRows } from '../../src/exports/finished-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

async function rowsOf(folder: string, table?: string): Promise<NamedRow[]> {
  const rows: NamedRow[] = [];
  for await (const row of readRows({ files: localDisk, folder, ...(table === undefined ? {} : { table }) })) {
    rows.push(row);
  }
  return rows;
}

// Promise, Nothing lost: A program reads the same rows from every format
it('a program takes the rows of a finished export, the same from every format', async () => {
  const folder = await tempFolder();
  const service = await startGeneratedService({ missingPercent: 5 });
  onTestFinished(() => service.stop());
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 130, invalidPercent: 3 });
  const made = async (format: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const out = join(folder, `${format}${Object.keys(more).join()}`);
    const parts = { 'ids-per-call': '10', 'rows-per-part': '50' };
    const flags = { ids, out, url: service.url, format, tables: 'assets,attributes', ...parts, ...more };
    expect((await runExport({ flags })).state).toBe('complete');
    return out;
  };
  const [jsonl, csv, parquet] = [
    await made('jsonl'),
    await made('csv', { compression: 'csv=gzip' }),
    await made('parquet'),
  ];
  const assets = await rowsOf(jsonl);
  const first = readFileSync(join(jsonl, 'jsonl/assets/part-00000.jsonl'), 'utf8').split('\n')[0] ?? '';
  expect(Object.keys(assets[0] ?? {})).toEqual(Object.keys(JSON.parse(first) as object));
  expect(assets.length).toBeGreaterThan(100);
  for (const out of [csv, parquet]) {
    expect(await rowsOf(out)).toEqual(assets);
    expect(await rowsOf(out, 'attributes')).toEqual(await rowsOf(jsonl, 'attributes'));
  }
  expect((await rowsOf(parquet, 'unexported')).length + assets.length).toBe(130);
  await expect(rowsOf(jsonl, 'creators')).rejects.toMatchObject({ exit: 'usage' });
  const escaped = await made('csv', { 'csv-formulas': 'escape' });
  await expect(rowsOf(escaped)).rejects.toMatchObject({ exit: 'usage' });
});
