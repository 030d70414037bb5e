import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Format, formats } from '../../src/core/formats/sink.ts';
import { FinishedExport, type ManifestFile } from '../../src/exports/finished-export.ts';
import { assetsTable, fetchedAt } from '../../src/core/records/columns.ts';
import { cellsOf, blockOf, textMarks, type RowBlock } from '../../src/core/records/row-block.ts';
import { flattenAsset } from '../../src/core/records/flatten-asset.ts';
import type { Row, Table } from '../../src/core/records/table.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import type { Manifest } from '../../src/places/export/manifest.ts';
import { openTableFile } from '../../src/core/work/part-build.ts';
import { publishFiles } from '../../src/places/scratch/part-file.ts';
import { hasRealRecords, parseObject, realRecordTexts } from '../core/records/any-json.ts';
import { anyRecord } from '../core/records/any-record.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sampledRuns } from '../model/support/sample.ts';

const rowFormats = formats.filter((format) => format !== 'raw');
const table: Table = { ...assetsTable, columns: [...assetsTable.columns, fetchedAt] };
const compression = { parquet: 'zstd', csv: 'none', jsonl: 'gzip', raw: 'none' } as const;
const time = 1_795_000_000_000_000;

/** An export of one part with these rows. */
async function written(rows: readonly Row[], format: Format): Promise<{ source: FinishedExport; file: ManifestFile }> {
  const folder = await tempFolder();
  const options = {
    files: localDisk,
    folder,
    compression,
    escapeFormulas: false,
    csvDialect: 'rfc4180',
  } as const;
  const { encoder, file } = await openTableFile(options, { format, table, part: 0 });
  await encoder.write(blockOf(table.columns, rows));
  await encoder.end();
  const sealed = await file.finish();
  await publishFiles(localDisk, folder, [sealed.path]);
  const facts = { ...sealed, format, table: table.name, part: 0, rows: rows.length, first: 0, last: 0 };
  const columns = table.columns.map(({ name, type, nullable }) => ({ name, type, nullable }));
  const manifest = { job: {}, files: [facts], tables: { assets: { rows: rows.length, columns } } };
  return { source: new FinishedExport(localDisk, folder, manifest as unknown as Manifest), file: facts };
}

/** The rows that are read back. A block is good until the next one is requested. */
async function readBack(rows: readonly Row[], format: Format, columns = table.columns): Promise<Row[]> {
  const { source, file } = await written(rows, format);
  const read: Row[] = [];
  for await (const block of source.blocks(file, columns)) {
    for (let row = 0; row < block.rows; row += 1) read.push(cellsOf(block, row, columns));
  }
  return read;
}

/** As files hold them: a lone surrogate is U+FFFD. */
function rowOf(record: Parameters<typeof flattenAsset>[0]): Row {
  const cells = flattenAsset(record).row.map((cell) => (typeof cell === 'string' ? cell.toWellFormed() : cell));
  return [...cells, time];
}

describe.each(rowFormats)('the rows of a file as texts, from %s', (format) => {
  it('are the ones that were written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { maxLength: 4 }), async (records) => {
        const rows = records.map(rowOf);
        expect(await readBack(rows, format)).toEqual(rows);
      }),
      { seed: 11, ...sampledRuns(120) },
    );
  });

  it('are so for many rows, and for columns in another order', async () => {
    const rows = Array.from({ length: 2500 }, (_, n) => rowOf(parseObject(generatedRecord(generatedId(8, n)))));
    const places = [2, 49, 0, 27, 28, 41, 42, 48].filter((place) => place < table.columns.length);
    const columns = places.flatMap((place) => table.columns[place] ?? []);
    expect(await readBack(rows, format, columns)).toEqual(rows.map((row) => places.map((place) => row[place])));
  });

  it.skipIf(!hasRealRecords)('are so for the real records', async () => {
    const rows = [...realRecordTexts()].map((text) => rowOf(parseObject(text)));
    expect(await readBack(rows, format)).toEqual(rows);
  });

  it('say what each text holds', async () => {
    const names = ['plain', 'a,b', 'say "x"', 'back\\slash', 'two\nlines', ''];
    const rows = names.map((name) => rowOf({ id: 'a', content: { metadata: { name } } }));
    const at = table.columns.findIndex(({ name }) => name === 'content_metadata_name');
    const { source, file } = await written(rows, format);
    const marksIn = ({ marks }: RowBlock): number[] =>
      [...names.keys()].map(
        (row) => (marks[row * table.columns.length + at] ?? 0) & (textMarks.escapes | textMarks.separators),
      );
    for await (const block of source.blocks(file, table.columns)) {
      expect(marksIn(block)).toEqual(marksIn(blockOf(table.columns, rows)));
    }
  });
});

describe('lines of JSON', () => {
  it('are parsed where their members have another order, and a null json cell is null', async () => {
    const { source, file } = await written([], 'jsonl');
    const lines = ['{"burnt":true,"id":"b"}', '{ "id": "c", "creators": null }', '{"id":"d\\u0041"}'];
    const path = 'jsonl/assets/plain.jsonl';
    await mkdir(dirname(join(source.folder, path)), { recursive: true });
    await writeFile(join(source.folder, path), lines.join('\n'));
    const columns = table.columns.filter(({ name }) => ['id', 'burnt', 'creators'].includes(name));
    const rows: Row[] = [];
    for await (const some of source.rows({ ...file, path }, columns)) rows.push(...some);
    expect(rows).toEqual([
      ['b', null, true],
      ['c', null, null],
      ['dA', null, null],
    ]);
  });
});
