import { isAbsolute, relative } from 'node:path';
import { changesTable, tableNames, tables } from '../../../core/records/columns.ts';
import { type Table } from '../../../core/records/table.ts';
import type { Job } from '../../../core/job/job-schema.ts';
import { loadJob } from '../../../core/job/load-job.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { tablesOf } from '../../../core/work/tables-of.ts';
import type { CsvDialectName } from '../../../core/formats/sink.ts';
import { type TableFormat, tableFormats } from '../../../exports/duckdb-files.ts';
import { openFinished } from '../../../exports/finished-export.ts';
import type { CommandLine } from '../../command.ts';
import { exportPlace } from '../../export-place.ts';
import { choiceOf } from '../../flag-values.ts';

/** What is written, and where: by a job, or all there is. */
export interface Layout {
  readonly tables: readonly Table[];
  readonly formats: readonly TableFormat[];
  readonly folder?: string;
  readonly csvDialect?: CsvDialectName;
  readonly codecs?: Job['output']['compression'];
  /** Columns that the rows of new tables are ordered by. */
  readonly cluster?: readonly string[];
}

/** The layout of the job that a word names, or of all tables; with `--table` of that one. @throws {ExportError} `usage` */
export function layoutOf(args: CommandLine): Layout {
  const layout = wholeLayout(args);
  const table = choiceOf(args, 'table', tableNames);
  // Jobs without a base write no changes: they are shown where they are asked for.
  const all = args.words.length === 0 && table === changesTable.name ? [changesTable] : layout.tables;
  const shown = all.filter(({ name }) => table === undefined || name === table);
  if (shown.length > 0) return { ...layout, tables: shown };
  throw new ExportError('usage', `the job does not write the table ${table ?? ''}`, {
    todo: `It writes ${layout.tables.map(({ name }) => name).join(', ')}.`,
  });
}

function wholeLayout(args: CommandLine): Layout {
  const [file] = args.words;
  if (file === undefined) return { tables, formats: tableFormats };
  const { job } = loadJob({ file, flags: {}, environment: args.terminal.env, folder: args.terminal.cwd() });
  return {
    // The time stands in no statement.
    tables: tablesOf(job, { startedAtMs: 0 }).map((shaped) => shaped.table),
    formats: tableFormats.filter((format) => job.output.formats.includes(format)),
    folder: shortPath(job.output.dir, args.terminal.cwd()),
    csvDialect: job.csv.dialect,
    codecs: job.output.compression,
  };
}

/** A place for a statement: relative where it lies below the working directory. */
export function shortPath(place: string, workingFolder: string): string {
  const path = relative(workingFolder, place);
  return isBucketAddress(place) || path === '' || path.startsWith('..') || isAbsolute(path) ? place : path;
}

/** The tables of an export, without those that `--table` leaves out. */
export async function tablesOfExport(args: CommandLine): Promise<readonly Table[]> {
  const place = await exportPlace(args.text('of') ?? '', args);
  const finished = await openFinished(place.folder, place.files);
  const table = choiceOf(args, 'table', tableNames);
  const names = Object.keys(finished.manifest.tables).filter((name) => table === undefined || name === table);
  return names.map((name) => finished.table(name));
}
