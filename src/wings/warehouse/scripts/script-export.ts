import { basename } from 'node:path';
import { startOfExport } from '../../../core/run/record/run-record.ts';
import { assetsTable, changesOf, changesTable } from '../../../core/records/columns.ts';
import { type Table } from '../../../core/records/table.ts';
import type { FinishedExport } from '../../../exports/finished-export.ts';
import type { TableFormat } from '../../../exports/table-source.ts';
import { printable } from '../../../lib/format-text.ts';
import type { DialectName } from '../dialects.ts';
import { planLoad, rowsAfterLoad } from '../load-plan.ts';
import type { ScriptExport, ScriptMode } from './export-script.ts';

/** What a script needs of a finished export. @throws {ExportError} `usage` when the warehouse reads none of its files */
export async function readScriptExport(
  finished: FinishedExport,
  dialect: DialectName,
  prefix: string,
): Promise<ScriptExport> {
  const { manifest, files, folder } = finished;
  const { diff, base } = manifest;
  const plan = planLoad(finished, dialect === 'postgres' ? 'psql' : 'duckdb', prefix);
  const whole = plan.tables.filter(({ name }) => name !== changesTable.name);
  const hasChanges = whole.length < plan.tables.length;
  return {
    name: diff?.to.name ?? basename(folder),
    plan: { ...plan, seal: diff?.to.seal ?? plan.seal },
    base: diff?.from ?? (hasChanges ? base : undefined),
    startedAtMs: await startOfExport(files, folder, manifest),
    rowsAfter: Object.fromEntries(Object.entries(rowsAfterLoad(finished)).map(([name, rows]) => [prefix + name, rows])),
  };
}

/** An export that stands for any other: with these tables, a file each. */
export function exampleExport(
  tables: readonly Table[],
  mode: ScriptMode,
  format: TableFormat,
  prefix: string,
): ScriptExport {
  const assets = tables.find(({ name }) => name === assetsTable.name) ?? assetsTable;
  const changes = tables.find(({ name }) => name === changesTable.name) ?? changesOf(assets.columns);
  const whole = tables.filter(({ name }) => name !== changesTable.name);
  const all = mode === 'replace' ? whole : [...whole, changes];
  const rows = 1000;
  return {
    name: 'EXPORT',
    plan: {
      format,
      csvDialect: 'rfc4180',
      seal: 'SEAL',
      prefix,
      tables: all.map((table) => {
        const path = `${format}/${table.name}/part-00000.${format}`;
        const file = { path, format, table: table.name, part: 0, rows, bytes: 0, sha256: '', first: 1, last: rows };
        return { name: table.name, table: { ...table, name: prefix + table.name }, files: [file], rows };
      }),
    },
    base: mode === 'replace' ? undefined : { name: 'BASE', seal: 'BASE-SEAL' },
    startedAtMs: Date.UTC(2026, 10, 20, 2),
    rowsAfter: Object.fromEntries(whole.map(({ name }) => [prefix + name, rows])),
  };
}

/** Lines that say which export a script is for. */
export function scriptHeading(
  { name, plan, base, startedAtMs }: ScriptExport,
  mode: ScriptMode,
  program: string,
): string {
  const start = startedAtMs === undefined ? 'unknown' : new Date(startedAtMs).toISOString();
  const from =
    base === undefined || mode === 'replace' ? [] : [`-- changes since: ${printable(base.name)}, seal ${base.seal}`];
  return [
    `-- export: ${printable(name)}`,
    `-- seal: ${plan.seal}`,
    `-- start: ${start}`,
    ...from,
    `-- written by: asset-export ${program}`,
    `-- mode: ${mode}. The script can run twice, and again after it was cut. It changes no row before all rows have arrived.`,
    '',
  ].join('\n');
}
