import { basename } from 'node:path';
import type { FinishedExport } from '../../../exports/finished-export.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { printable } from '../../../lib/format-text.ts';
import type { EngineName } from '../engines.ts';
import { planLoad } from '../load-plan.ts';
import type { ScriptExport } from './export-script.ts';

/** What a script needs of a finished export. @throws {ExportError} `usage` for a diff, and when the warehouse reads none of its files */
export function scriptExportOf(finished: FinishedExport, engine: EngineName, prefix: string): ScriptExport {
  const { manifest, folder } = finished;
  if (manifest.kind === 'diff') {
    throw new ExportError('usage', `${folder} is a diff: it holds changes, not a whole export`, {
      todo: 'Name the newer export with --of. load DIFF applies changes in DuckDB and PostgreSQL.',
    });
  }
  return {
    name: basename(folder),
    plan: planLoad(finished, engine === 'postgres' ? 'psql' : 'duckdb', prefix),
    startedAtMs: manifest.startedAtMs,
  };
}

/** Lines that say which export a script is for. */
export function scriptHeading({ name, plan, startedAtMs }: ScriptExport, program: string): string {
  const start = startedAtMs === undefined ? 'unknown' : new Date(startedAtMs).toISOString();
  return [
    `-- export: ${printable(name)}`,
    `-- seal: ${plan.seal}`,
    `-- start: ${start}`,
    `-- written by: asset-export ${program}`,
    '-- mode: replace. The script can run twice, and again after it was cut. It changes no row before all rows have arrived.',
    '',
  ].join('\n');
}
