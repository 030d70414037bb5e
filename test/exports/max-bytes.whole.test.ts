import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isTextColumn } from '../../src/core/records/table.ts';
import { openFinished } from '../../src/exports/finished-export.ts';
import { doubleQuoted } from '../../src/lib/sql-text.ts';
import { queryDuckdb, sqlText } from '../support/query-duckdb.ts';
import { runHere } from '../support/run-here.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { loseTables, repairCounted, twoNights } from '../wings/repair/based-nights.ts';
import { exportNights } from '../wings/warehouse/scripts/script-nights.ts';

/** What the manifest says of each text column, and what DuckDB counts in the files. */
async function sizesOf(folder: string): Promise<{ said: unknown[]; counted: unknown[] }> {
  const finished = await openFinished(folder);
  const said: unknown[] = [];
  const counted: unknown[] = [];
  for (const name of Object.keys(finished.manifest.tables)) {
    const texts = finished.table(name).columns.filter(isTextColumn);
    said.push([name, texts.map((column) => column.maxBytes)]);
    const format = finished.filesOf(name)[0]?.format ?? '';
    const sizes = texts.map((column) => `coalesce(max(strlen(${doubleQuoted(column.name)})), 0)::INT`);
    const files = sqlText(join(folder, format, name, '*'));
    const read = format === 'parquet' ? `read_parquet(${files})` : `read_csv(${files}, all_varchar = true)`;
    counted.push([name, (await queryDuckdb(`SELECT ${sizes.join(', ')} FROM ${read}`))[0]]);
  }
  return { said, counted };
}

async function expectCounted(folder: string): Promise<unknown[]> {
  const { said, counted } = await sizesOf(folder);
  expect(said).toEqual(counted);
  return said;
}

it('the manifest has the bytes of the longest text of each column: of nights, of a rebuilt and of a repaired export', async () => {
  const top = await tempFolder();
  const nights = await exportNights(top, 'assets,creators,files,changes');
  for (const night of nights) await expectCounted(night);
  const rebuilt = join(top, 'rebuilt');
  const { exit } = await runHere([
    'rebuild',
    nights[2] ?? '',
    '--out',
    rebuilt,
    '--join',
    '3',
    '--tables',
    'assets,creators',
  ]);
  expect(exit).toBe(0);
  await expectCounted(rebuilt);
  const { out, where } = await twoNights();
  const whole = await expectCounted(out);
  loseTables(out, 1);
  await repairCounted({ flags: where });
  expect(await expectCounted(out)).toEqual(whole.filter((table) => !String(table).startsWith('changes')));
}, 60_000);
