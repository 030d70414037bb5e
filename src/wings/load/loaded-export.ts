import { type FileReader, type LoadPlan, type LoadTable, planLoad } from '../warehouse/index.ts';
import { basename } from 'node:path';
import { type FinishedExport, openFinished } from '../../exports/finished-export.ts';
import { verifyExport } from '../../exports/verify-export.ts';
import { showRowsOf } from '../../core/records/asset-changes.ts';
import { changeColumns, changesTable } from '../../core/records/columns.ts';
import { limitOf, limitText } from '../../places/export/export-facts.ts';
import { ExportError } from '../../lib/export-error.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { contentSeal, type Manifest } from '../../places/export/manifest.ts';
import type { Reads } from '../../places/files/disk.ts';

/** What is loaded. */
export interface LoadedExport {
  readonly finished: FinishedExport;
  /** The tables that are filled. Of a diff, `assets` has no files: only its `changes` do. */
  readonly plan: LoadPlan;
  readonly changes: LoadTable | undefined;
  /** The export that the changes begin from; undefined where they do not tell the changes of all tables. */
  readonly base: { readonly name: string; readonly seal: string } | undefined;
  /** What the tables hold afterwards; of a diff its newer export. */
  readonly seal: string;
  readonly isDiff: boolean;
  /** Its folder or bucket, as its owner names it: what is loaded may be a copy. */
  readonly address: string;
  /** The folder name of the export; of a diff that of its newer export. */
  readonly name: string;
  /** When the export began, in milliseconds since 1970; undefined where nothing says so. */
  readonly startedAtMs: number | undefined;
  /** Columns, and paths in `extra`, in which alone an asset does not change. */
  readonly ignored: readonly string[];
}

export interface ExportToLoad {
  readonly files: Reads;
  /** Absolute. */
  readonly folder: string;
  /** Put before the name of every table. */
  readonly prefix?: string | undefined;
  /** Whether a sample may be loaded, where tables of a whole export may be. */
  readonly allowSample?: boolean;
  /** The address of the export where `folder` is a copy of it. */
  readonly address?: string | undefined;
}

/** @throws {ExportError} `damaged` when the export is unfinished or damaged */
export async function openLoadedExport(request: ExportToLoad, reader: FileReader): Promise<LoadedExport> {
  const { files, folder, prefix } = request;
  const { damage } = await verifyExport(files, folder);
  const [first] = damage;
  if (first !== undefined) {
    throw new ExportError('damaged', `${folder} is damaged: ${first.path}: ${first.problem}`, {
      todo: `Nothing was loaded. Every problem: ${commandLine('verify', folder)}`,
      facts: { problems: damage.length },
    });
  }
  const finished = await openFinished(folder, files);
  const { manifest } = finished;
  const some = limitOf(manifest.job);
  if (typeof some === 'string' && request.allowSample !== true)
    throw new ExportError('usage', `${folder} is a ${limitText(some)}: it would replace the rows of a whole export`, {
      todo: 'Load it with --allow-sample, into a database or with a --prefix of its own.',
    });
  const planned = planLoad(finished, reader, prefix);
  const changes = planned.tables.find(({ name }) => name === changesTable.name);
  const { diff, base, job } = manifest;
  const { address = folder } = request;
  const { 'base.ignore': ignore } = job;
  const ignored = Array.isArray(ignore) ? ignore.map(String) : [];
  const { columns = [] } = planned.tables.find(({ name }) => name === 'assets')?.table ?? {};
  const showAll = planned.tables.every(({ table }) => showRowsOf(table, columns, ignored));
  return {
    finished,
    plan: { ...planned, tables: tablesToFill(planned, manifest, changes) },
    changes,
    base: diff?.from ?? (changes !== undefined && showAll ? base : undefined),
    seal: diff?.to.seal ?? contentSeal(manifest),
    isDiff: diff !== undefined,
    address,
    name: diff?.to.name ?? basename(address),
    startedAtMs: manifest.startedAtMs,
    ignored,
  };
}

/** Of a diff `assets` has the columns of its changes. */
function tablesToFill({ tables, prefix }: LoadPlan, { diff }: Manifest, changes: LoadTable | undefined): LoadTable[] {
  const whole = tables.filter((table) => table !== changes);
  if (diff === undefined || changes === undefined) return whole;
  const columns = changes.table.columns.filter(({ name }) => !changeColumns.includes(name));
  const table = { ...changes.table, name: `${prefix}assets`, columns };
  return [{ name: 'assets', table, files: [], rows: 0 }, ...whole];
}
