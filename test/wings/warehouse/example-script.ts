import type { Table } from '../../../src/core/records/table.ts';
import type { EngineName } from '../../../src/wings/warehouse/engines.ts';
import { exportScript } from '../../../src/wings/warehouse/scripts/export-script.ts';

/** The script of an export with these tables, a file each. */
export function exampleScript(engine: EngineName, all: readonly Table[]): string {
  const format = engine === 'postgres' ? 'csv' : 'parquet';
  const rows = 1000;
  const loaded = all.map((table) => {
    const path = `${format}/${table.name}/part-00000.${format}`;
    const file = { path, format, table: table.name, part: 0, rows, bytes: 0, sha256: '', first: 1, last: rows };
    return { name: table.name, table, files: [file], rows };
  });
  const plan = { format, csvDialect: 'rfc4180', seal: 'SEAL', prefix: '', tables: loaded } as const;
  const source = { name: 'EXPORT', plan, startedAtMs: Date.UTC(2026, 10, 20, 2) };
  return exportScript(source, { engine, folder: '@stage/demo' });
}
