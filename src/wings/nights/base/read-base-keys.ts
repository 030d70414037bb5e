import type { FinishedExport, ManifestFile } from '../../../exports/finished-export.ts';
import { factsOfFile } from '../../../places/export/part-bytes.ts';
import { recordFiles, recordsOf } from '../../../exports/records.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { commandLine } from '../../../lib/addresses/shown-text.ts';
import { assetsTable, fetchedAt } from '../../../core/records/columns.ts';
import { flattenAsset } from '../../../core/records/flatten-asset.ts';
import { type Cell, type Column, wholeName } from '../../../core/records/table.ts';
import { missingReason, missingSince, unexportedTable } from '../../../core/records/id-tables.ts';
import { pathIn } from '../../../places/export/export-folder.ts';
import { ageWords, type MaxAge } from './ages.ts';
import type { AssetClasses } from './asset-classes.ts';
import { type BaseKey, BaseKeys } from './base-keys.ts';
import type { OpenBase } from './open-base.ts';

/** Reads id, time and class of every row of a base, and its missing and failed ids. @throws {ExportError} `damaged` */
export async function readBaseKeys({
  base,
  classes,
  startedAtMs,
  onWarning,
}: {
  readonly base: OpenBase;
  readonly classes: AssetClasses;
  /** When this export began. */
  readonly startedAtMs: number;
  readonly onWarning: (message: string) => void;
}): Promise<BaseKeys> {
  const { finished } = base;
  const { exported, carried, missing, failed } = finished.manifest.counts;
  const keys = new BaseKeys(exported + carried + missing + failed);
  const standard = base.startedAtMs ?? 0;
  const ahead = { rows: 0 };
  const noted = (timeMs: number): number => {
    if (timeMs > startedAtMs) ahead.rows += 1;
    return timeMs;
  };
  for await (const rows of keyRows(finished, classes)) {
    keys.addAll(
      rows.map(({ id, timeMs = standard, cells }) => {
        return { id, fate: 'row', timeMs: noted(timeMs), assetClass: classes.classOf(cells) };
      }),
    );
  }
  for (const file of finished.filesOf(unexportedTable.name)) {
    await requireIntact(finished, file);
    for await (const rows of finished.rows(file)) {
      const unexported: BaseKey[] = [];
      for (const [id, fate, reason] of rows) {
        if (fate !== 'missing' && fate !== 'failed') continue;
        const sinceMs = missingSince(reason) ?? standard;
        unexported.push({ id: String(id), fate, timeMs: noted(sinceMs), assetClass: 0 });
      }
      keys.addAll(unexported);
    }
  }
  if (ahead.rows > 0)
    onWarning(`some rows of the base ${base.name} have a request time in the future: they are requested first`);
  return keys;
}

interface KeyRow {
  readonly id: string;
  readonly timeMs: number | undefined;
  /** Those of the columns of the classes. */
  readonly cells: readonly Cell[];
}

async function* keyRows(finished: FinishedExport, { columns }: AssetClasses): AsyncGenerator<KeyRow[], void, void> {
  const written = new Set(finished.tables.get(assetsTable.name)?.columns.map(wholeName));
  const needed = [idColumn, ...columns];
  const tableFiles = finished.filesOf(assetsTable.name).filter(({ format }) => format !== 'raw');
  const format = tableFiles[0]?.format;
  const files = tableFiles.filter((file) => file.format === format);
  const hasTimes = written.has(fetchedAt.name);
  if (files.length > 0 && needed.every(({ name }) => written.has(name))) {
    for (const file of files) {
      await requireIntact(finished, file);
      for await (const rows of finished.rows(file, [...needed, fetchedAt])) {
        yield rows.map((row) => keyRow(row[0], hasTimes ? row[needed.length] : null, row.slice(1, needed.length)));
      }
    }
    return;
  }
  const timeFiles = timeFilesOf(finished);
  for (const raw of recordFiles(finished)) {
    await requireIntact(finished, raw);
    const times = hasTimes ? await timesOf(finished, timeFiles.get(raw.part)) : [];
    let at = 0;
    for await (const records of recordsOf(finished, raw)) {
      yield records.map((record) => {
        const { row } = flattenAsset(record);
        const cells = columns.map((column) => row[assetsTable.columns.indexOf(column)] ?? null);
        return keyRow(row[assetsTable.columns.indexOf(idColumn)], times[at++], cells);
      });
    }
  }
}

const [idColumn = fetchedAt] = assetsTable.columns;

function keyRow(id: Cell | undefined, time: Cell | undefined, cells: readonly Cell[]): KeyRow {
  return { id: String(id), timeMs: typeof time === 'number' ? time / 1000 : undefined, cells };
}

/** By part: the best file of the rows of `assets`. Times are exact in every format, also in CSV that was changed for spreadsheets. */
export function timeFilesOf(finished: FinishedExport): ReadonlyMap<number, ManifestFile> {
  const rows = finished.manifest.files.filter(({ table, format }) => table === assetsTable.name && format !== 'raw');
  const best = finished.filesOf(assetsTable.name).filter(({ format }) => format !== 'raw');
  return new Map([...rows, ...best.reverse()].map((file) => [file.part, file]));
}

/** Raw files do not say when a record was requested: the rows of the same part do. */
export async function timesOf(finished: FinishedExport, file: ManifestFile | undefined): Promise<Cell[]> {
  const times: Cell[] = [];
  if (file === undefined) return times;
  await requireIntact(finished, file);
  for await (const rows of finished.rows(file, [fetchedAt satisfies Column])) {
    for (const [time = null] of rows) times.push(time);
  }
  return times;
}

/** The reason of a missing id that was not requested again: the day since when, or the minute where hours count. */
export function missingText(sinceMs: number, after: MaxAge): string {
  const time = new Date(sinceMs).toISOString();
  const since = after.unit === 'h' ? `${time.slice(0, 16)}Z` : time.slice(0, 10);
  return missingReason(since, after.unit === 'never' ? 'not asked again' : `asked again after ${ageWords(after)}`);
}

/** @throws {ExportError} `damaged` when a file is not the one that the manifest names */
export async function requireIntact({ files, folder }: FinishedExport, file: ManifestFile): Promise<void> {
  const path = pathIn(folder, file.path);
  const todo = `Repair it: ${commandLine('verify', folder, '--repair')}`;
  const size = await files.sizeOf(path);
  if (size === undefined) throw new ExportError('damaged', `${path} is missing`, { todo });
  if (size !== file.bytes) throw new ExportError('damaged', `${path} is damaged: its size differs`, { todo });
  if ((await factsOfFile(files, path)).sha256 === file.sha256) return;
  throw new ExportError('damaged', `${path} is damaged: it was changed after it was written`, { todo });
}
