import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../src/core/records/columns.ts';
import type { Row } from '../../src/core/records/table.ts';
import { FinishedExport, type ManifestFile } from '../../src/exports/finished-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import type { Manifest } from '../../src/places/export/manifest.ts';
import { tempFolder } from '../support/temp-folder.ts';

function fileOf(format: string, part: number, table = 'assets'): ManifestFile {
  const path = `${format}/${table}/part-0000${part}.${format === 'raw' ? 'jsonl' : format}`;
  return { path, format, table, part, rows: 1, bytes: 1, sha256: '', first: 1, last: 1 };
}

function exportOf(folder: string, { files, job = {} }: { files: ManifestFile[]; job?: Manifest['job'] }) {
  const columns = [
    { name: 'id', type: 'string', nullable: false },
    { name: 'burnt', from: 'mutable', type: 'boolean', nullable: true },
  ];
  const manifest = { job, files, tables: { assets: { rows: 1, columns } } } as unknown as Manifest;
  return new FinishedExport(localDisk, folder, manifest);
}

describe('a finished export', () => {
  it('names the files of a table, the most exact format first, then by part', () => {
    const files = [fileOf('csv', 0), fileOf('parquet', 1), fileOf('raw', 0), fileOf('parquet', 0), fileOf('xlsx', 0)];
    const pathsOf = (job?: Manifest['job']): string[] =>
      exportOf('/out', { files, ...(job === undefined ? {} : { job }) })
        .filesOf('assets')
        .map(({ format, part }) => `${format} ${part}`);
    expect(pathsOf()).toEqual(['raw 0', 'parquet 0', 'parquet 1', 'csv 0']);
    expect(pathsOf({ 'csv.formulas': 'escape' })).toEqual(['raw 0', 'parquet 0', 'parquet 1']);
  });

  it('finds a column by its name in the column table, whatever the job called it or left out', async () => {
    const folder = await tempFolder();
    const file = fileOf('jsonl', 0);
    await mkdir(dirname(join(folder, file.path)), { recursive: true });
    await writeFile(join(folder, file.path), '{"id":"a","burnt":true}\n');
    const asked = ['burnt', 'mutable', 'id'].flatMap((name) =>
      assetsTable.columns.filter((each) => each.name === name),
    );
    const rows: Row[] = [];
    for await (const some of exportOf(folder, { files: [file] }).rows(file, asked)) rows.push(...some);
    expect(rows).toEqual([[null, true, 'a']]);
  });
});
