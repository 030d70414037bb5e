import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetsTable } from '../../src/core/records/columns.ts';
import type { ExportOutcome } from '../../src/core/run/complete-export.ts';
import { verifyExport } from '../../src/exports/verify-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { isMissing } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { idEntries, writeIdFile } from '../support/id-file.ts';
import { queryDuckdb } from '../support/query-duckdb.ts';
import { runExport } from '../support/run-export.ts';
import { type SpawnedService, spawnGeneratedService } from '../support/service/spawned-service.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { runsAll } from '../support/lane.ts';

const shape = { entries: runsAll ? 100_000 : 5000, invalidPercent: 1, duplicatePercent: 1 };

const idsPerCall = runsAll ? 1000 : 500;

describe(`an export of ${shape.entries.toLocaleString('en')} ids, 8 calls at once`, () => {
  let service: SpawnedService;
  let folder: { readonly path: string; readonly remove: () => Promise<void> };
  let outcome: ExportOutcome;
  const out = (): string => join(folder.path, 'out');

  beforeAll(async () => {
    folder = await keptFolder();
    service = await spawnGeneratedService(['--missing-percent', '2', '--jitter-ms', '20']);
    const ids = join(folder.path, 'ids.txt');
    await writeIdFile(ids, shape);
    outcome = await runExport({
      flags: {
        ids,
        url: service.url,
        out: out(),
        format: 'parquet,csv,jsonl',
        'ids-per-call': String(idsPerCall),
        'rows-per-part': String(0.3 * shape.entries),
      },
    });
  }, 180_000);

  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  // Promise, Nothing lost: 100,000 ids have one fate each, and the counts add up (sampled)
  it('gives each entry exactly one fate', () => {
    const entries = idEntries(shape);
    const valid = [...new Set(entries.filter((entry) => !entry.startsWith('spoiled')))];
    const missing = valid.filter((id) => isMissing(id, 2)).length;
    const invalid = entries.filter((entry) => entry.startsWith('spoiled')).length;
    expect(invalid).toBe(shape.entries / 100);
    expect(outcome.state).toBe('complete');
    expect(outcome.account.pending).toBe(0);
    expect(outcome.account.counts).toEqual({
      read: shape.entries,
      exported: valid.length - missing,
      carried: 0,
      missing,
      invalid,
      duplicate: entries.length - invalid - valid.length,
      failed: 0,
    });
  });

  // Promise, Nothing overspent: A run sends full calls only, each once (sampled)
  it('sends full calls only, each once', async () => {
    const { counts } = outcome.account;
    const unique = counts.exported + counts.missing;
    const asked = await service.counts();
    expect(outcome.callsOfRun).toBe(Math.ceil(unique / idsPerCall));
    expect(asked.calls).toBe(Math.ceil(unique / idsPerCall));
    expect(asked.idsAsked).toBe(unique);
  });

  it('holds the same values in Parquet, CSV and JSONL', async () => {
    const types = assetsTable.columns.map(({ name }) => `'${name}': 'VARCHAR'`).join(', ');
    const sources = {
      parquet: `(SELECT * FROM read_parquet('${out()}/parquet/assets/*.parquet'))`,
      csv: `(SELECT * FROM read_csv('${out()}/csv/assets/*.csv', header = true, columns = {${types}}, quote = '"', escape = '"', delim = ',', nullstr = '', allow_quoted_nulls = false, max_line_size = 10000000))`,
      jsonl: `(SELECT * FROM read_json('${out()}/jsonl/assets/*.jsonl', format = 'newline_delimited', columns = {${jsonTypes()}}))`,
    };
    // JSON text is brought to DuckDB's own form: it writes some numbers another way than they were written.
    const canonical = assetsTable.columns.map(({ name, type }) =>
      type === 'json'
        ? `CAST(json("${name}") AS VARCHAR) AS "${name}"`
        : `CAST("${name}" AS ${duckTypes[type]}) AS "${name}"`,
    );
    const tables = Object.values(sources).map((source) => `SELECT ${canonical.join(', ')} FROM ${source}`);
    const [parquet = '', csv = '', jsonl = ''] = tables;
    const differences = (a: string, b: string): Promise<unknown> =>
      queryDuckdb(`SELECT count(*) AS n FROM ((${a} EXCEPT ALL ${b}) UNION ALL (${b} EXCEPT ALL ${a}))`);
    expect(await queryDuckdb(`SELECT count(*) AS n FROM (${parquet})`)).toEqual([
      [BigInt(outcome.account.counts.exported)],
    ]);
    expect(await differences(parquet, csv)).toEqual([[0n]]);
    expect(await differences(parquet, jsonl)).toEqual([[0n]]);
  }, 120_000);

  it('passes verify', async () => {
    const result = await verifyExport(localDisk, out());
    expect(result.damage).toEqual([]);
    expect(result.files).toBe(4 * 5);
  });
});

const duckTypes = {
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(20,0)',
  json: 'JSON',
  timestamp: 'TIMESTAMPTZ',
} as const;

function jsonTypes(): string {
  return assetsTable.columns.map(({ name, type }) => `'${name}': '${duckTypes[type]}'`).join(', ');
}
