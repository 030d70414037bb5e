import { describe, expect, it } from 'vitest';
import { assetsTable, tables } from '../../../../src/core/records/columns.ts';
import { shapeTable, wholeTables } from '../../../../src/core/records/shape-table.ts';
import type { Cell, Table } from '../../../../src/core/records/table.ts';
import { nftView } from '../../../../src/wings/warehouse/analysts/nft-view.ts';
import { ddlFor, engineNames, loadStatementFor } from '../../../../src/wings/warehouse/engines.ts';
import { inPlaceNames } from '../../../../src/wings/warehouse/in-place/in-place-engines.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { grammarsOfTests } from '../engines/grammars-of-tests.ts';
import { zetasqlOfTests } from '../engines/zetasql-of-tests.ts';
import { scriptEngineNames, scriptEngines } from '../scripts/script-engines.ts';
import { problemOf } from '../sql-parser.ts';
import { styles } from '../../../../src/wings/warehouse/scripts/script-style.ts';
import { rowsOf, writeParts } from '../written-tables.ts';

const engines = await scriptEngines();
const grammarProblem = await grammarsOfTests('views for Trino, Spark and Athena are not parsed by their grammars');
const bigqueryProblem = await zetasqlOfTests("BigQuery's views are not parsed by its own parser");

const whole = { tables, prefix: '', isVersions: false };
const columns = ['mint', 'collection_name', 'authority', 'image_url', 'nft_name', 'burnt'] as const;

/** The cells of a table's row by name. */
function named(table: Table): Record<string, Cell>[] {
  return rowsOf(table).map((row) =>
    Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at] ?? null] as const)),
  );
}

function tableOf(name: string): Table {
  return tables.find((table) => table.name === name) ?? assetsTable;
}

function imageIn(links: Cell | undefined): string | undefined {
  const value: unknown = JSON.parse(String(links ?? 'null'));
  const image: unknown = typeof value === 'object' && value !== null && 'image' in value ? value.image : undefined;
  return typeof image === 'string' && image !== '' ? image : undefined;
}

/** What the view must hold, found out in another way. */
function expectedRows(): Record<(typeof columns)[number], Cell>[] {
  const first = (name: string, id: Cell | undefined, isFit: (row: Record<string, Cell>) => boolean = () => true) =>
    named(tableOf(name)).find((row) => row['asset_id'] === id && isFit(row));
  return named(assetsTable).map((asset) => {
    const id = asset['id'];
    const file = first('files', id, ({ mime }) => String(mime ?? '').startsWith('image/'));
    return {
      mint: id ?? null,
      collection_name: first('collections', id)?.['name'] ?? null,
      authority: first('authorities', id)?.['address'] ?? null,
      image_url: imageIn(asset['content_links']) ?? file?.['uri'] ?? null,
      nft_name: asset['content_metadata_name'] ?? null,
      burnt: asset['burnt'] ?? null,
    };
  });
}

const oddLinks = [
  String.raw`{"image":"\ud800"}`,
  String.raw`{"image":"x","y":"\u0000"}`,
  String.raw`[{"address":"\udfff"}]`,
  '"image"',
  'null',
  '[1]',
  '{"image":{"a":1}}',
  '{"image":5}',
];

describe.each(scriptEngineNames)('the view nft_metadata in %s', (name) => {
  it.skipIf(engines[name].isMissing)('has a row for each asset, with what the tables know', async () => {
    const engine = engines[name];
    const folder = await tempFolder();
    await engine.renew();
    const format = name === 'postgres' ? 'csv' : 'parquet';
    for (const table of tables) {
      await writeParts(folder, table, format);
      await engine.run([ddlFor(name, table) + loadStatementFor(name, { table, format, folder })]);
    }
    await engine.run([nftView(name, whole)]);
    const selected = columns.map(
      (column) =>
        `CASE WHEN ${column} IS NULL THEN NULL ELSE CAST(${column} AS ${name === 'clickhouse' ? 'String' : 'varchar'}) END AS c_${column}`,
    );
    const rows = await engine.rows(`SELECT ${selected.join(', ')} FROM nft_metadata`);
    const found = rows.map((row) => Object.values(JSON.parse(row) as Record<string, string | null>));
    const written = expectedRows().map((row) =>
      columns.map((column) => (row[column] === null ? null : String(row[column]))),
    );
    const sorted = (all: readonly unknown[]): string[] => all.map((row) => JSON.stringify(row)).sort();
    expect(found.length).toBe(rowsOf(assetsTable).length);
    const expected = sorted(written);
    expect(sorted(found).filter((row, at) => row !== expected[at])).toEqual([]);
    // JSON that functions of an engine refuse makes a null, not an error.
    const { text } = styles[name];
    for (const [n, links] of oddLinks.entries()) {
      const json = [text(`odd-${n}`), text(links), text(links)].join(', ');
      await engine.run([`INSERT INTO assets (id, content_links, authorities) VALUES (${json});`]);
    }
    const all = await engine.rows('SELECT * FROM nft_metadata');
    expect(all.length).toBe(found.length + oddLinks.length);
  });
});

describe.each([...engineNames, ...inPlaceNames])('the view for %s', (name) => {
  const small = shapeTable(assetsTable, { ...wholeTables, columns: ['id', 'burnt'], rename: { id: 'asset' } }).table;
  const texts = [
    nftView(name, whole),
    nftView(name, { tables, prefix: 'nft_', isVersions: true }),
    nftView(name, { tables: [small], prefix: '', isVersions: false }),
    nftView(name, { tables: [tableOf('assets')], prefix: '', isVersions: false }),
  ];

  it('is parsed', async () => {
    for (const text of texts) {
      if (name === 'bigquery') expect(await bigqueryProblem?.(text), text).toBeUndefined();
      else if (name === 'athena' || name === 'trino') expect(grammarProblem?.('trino', text), text).toBeUndefined();
      else if (name === 'spark' || name === 'databricks') expect(grammarProblem?.('spark', text), text).toBeUndefined();
      else expect(problemOf(name, text), text).toBeUndefined();
    }
  });

  it('has the same columns, null where the export cannot fill them', () => {
    const names = (text: string): string[] =>
      [...text.matchAll(/ AS ["`]?(\w+)["`]?,?$/gm)].map(([, as = '']) => as).slice(0, 16);
    for (const text of texts)
      expect(names(text.slice(text.indexOf('\n')))).toEqual(
        names((texts[0] ?? '').slice((texts[0] ?? '').indexOf('\n'))),
      );
    expect(names((texts[0] ?? '').slice((texts[0] ?? '').indexOf('\n')))).toHaveLength(16);
    expect(texts[2]?.match(/CAST\(NULL AS/g)).toHaveLength(14);
  });
});
