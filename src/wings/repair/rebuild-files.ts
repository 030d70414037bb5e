import { childRows, flattenAsset } from '../../core/records/flatten-asset.ts';
import { assetsTable, changesTable } from '../../core/records/columns.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { blockOf, type RowBlock } from '../../core/records/row-block.ts';
import { type ShapedTable, readyProver } from '../../core/records/shape-table.ts';
import { isIdColumn, type Row } from '../../core/records/table.ts';
import type { FinishedExport, ManifestFile } from '../../exports/finished-export.ts';
import { recordsOf } from '../../exports/records.ts';
import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { formats } from '../../core/formats/sink.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { begunOf } from '../../places/export/manifest.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type FinishedFile, unfinishedFile } from '../../places/scratch/part-file.ts';
import { fileOptionsOf, openTableFile, type TableFileName } from '../../core/work/part-build.ts';
import { tablesOf } from '../../core/work/tables-of.ts';

/** An export with damaged files, from which others of its files may be made again. */
export interface DamagedExport {
  readonly finished: FinishedExport;
  /** As the export was begun, with its folder. */
  readonly job: Job;
  /** Paths of files that differ from the manifest. Rebuilt files are removed from the set. */
  readonly damaged: Set<string>;
  /** Where its files go, and the folder on this disk where they are made. */
  readonly target: Pick<HomePlace, 'files' | 'store' | 'scratch'>;
}

/** With the ids of its parts. */
export interface PreparedDamage extends DamagedExport {
  readonly prepared: PreparedInputs;
}

/** The parts that have a damaged file; `changes` are not made again. */
export function damagedParts({ finished, damaged }: Pick<DamagedExport, 'finished' | 'damaged'>): Set<number> {
  const files = finished.manifest.files.filter(({ path, table }) => damaged.has(path) && table !== changesTable.name);
  return new Set(files.map(({ part }) => part));
}

/** Rows that go to an encoder at a time. */
const blockRows = 1000;

/** Rebuilds damaged files of tables from the same part: its raw records, another format, or `assets`. Yields their paths. */
export async function* rebuildTables(damagedExport: DamagedExport): AsyncGenerator<string, void, void> {
  const { finished, damaged, job } = damagedExport;
  const { manifest } = finished;
  const shaped = tablesOf(job, begunOf(manifest));
  await readyProver(job.output);
  for (const file of manifest.files.filter(({ path }) => damaged.has(path))) {
    const table = file.format === 'raw' ? undefined : shaped.find((each) => each.table.name === file.table);
    if (table === undefined || !formats.some((format) => format === file.format)) continue;
    for (const source of intactSources(damagedExport, file)) {
      const { format, part } = file;
      const name = { format: format as TableFileName['format'], table: table.table, part };
      if (!(await keptIfEqual(damagedExport, { file, name }, blocksOf(damagedExport, source, table)))) continue;
      yield file.path;
      break;
    }
  }
}

/** Intact files of the same part from which the rows of a table can be made: raw, its own in another format, then `assets`. */
export function intactSources(
  { finished, damaged }: DamagedExport,
  { table, part, path }: Pick<ManifestFile, 'table' | 'part' | 'path'>,
): ManifestFile[] {
  // Its rows are made of two exports.
  const assets = table === changesTable.name ? [] : finished.filesOf(assetsTable.name);
  const raw = assets.filter(({ format }) => format === 'raw');
  const files = new Set([...raw, ...finished.filesOf(table), ...assets]);
  return [...files].filter((file) => file.part === part && file.path !== path && !damaged.has(file.path));
}

/** Writes a file of these blocks and keeps it if it is byte for byte the one that the manifest names. */
export async function keptIfEqual(
  damagedExport: DamagedExport,
  { file, name }: { readonly file: ManifestFile; readonly name: TableFileName },
  blocks: AsyncIterable<RowBlock> | Iterable<RowBlock>,
): Promise<boolean> {
  const { target, job } = damagedExport;
  const { files, scratch: folder } = target;
  const open = await openTableFile({ files, folder, ...fileOptionsOf(job) }, name);
  try {
    for await (const block of blocks) if (block.rows > 0) await open.encoder.write(block);
    await open.encoder.end();
    const made = await open.file.finish();
    if (made.path !== file.path || made.sha256 !== file.sha256) return false;
    await putRebuilt(damagedExport, made);
    return true;
  } finally {
    await open.file.discard();
  }
}

/** Puts a file with the bytes that the manifest names. @throws {ExportError} `unavailable` when another process puts it too */
export async function putRebuilt(
  { target: { store, scratch }, finished: { folder }, damaged }: DamagedExport,
  { path, bytes, sha256 }: FinishedFile,
): Promise<void> {
  const body = { file: unfinishedFile(scratch, path), bytes, sha256 };
  const found = await store.look(path);
  const put = found === undefined ? await store.putNew(path, body) : await store.replace(path, body, found.tag);
  if (put !== 'put') {
    throw new ExportError('unavailable', `${folder}/${path} was changed by another process during the repair`, {
      todo: 'Run verify again.',
    });
  }
  damaged.delete(path);
}

/** The ids of the rows of `assets` in a part, in their order; undefined when no intact file of the part has them. */
export async function exportedIds(damagedExport: DamagedExport, part: number): Promise<string[] | undefined> {
  const { finished } = damagedExport;
  const hasId = finished.tables.get(assetsTable.name)?.columns.some(isIdColumn) ?? false;
  const sources = intactSources(damagedExport, { table: assetsTable.name, part, path: '' });
  const source = sources.find(({ format }) => format === 'raw' || hasId);
  if (source === undefined) return undefined;
  const ids: string[] = [];
  for await (const records of recordsOf(finished, source))
    ids.push(...records.map(({ id }) => (typeof id === 'string' ? id : '')));
  return ids;
}

/** The rows of a table from an intact file. A block is valid until the next one is requested. */
async function* blocksOf(
  { finished }: DamagedExport,
  source: ManifestFile,
  shaped: ShapedTable,
): AsyncGenerator<RowBlock, void, void> {
  if (source.format !== 'raw' && source.table === shaped.whole.name) {
    const { columns } = shaped.table;
    for await (const rows of inThousands(finished.rows(source, columns))) yield blockOf(columns, rows);
    return;
  }
  const rowsOf = (record: JsonObject): readonly Row[] =>
    shaped.whole === assetsTable ? [flattenAsset(record).row] : childRows(shaped.whole, record);
  for await (const records of inThousands(recordsOf(finished, source))) {
    yield shaped.pick(blockOf(shaped.whole.columns, records.flatMap(rowsOf)));
  }
}

/** Items of any pieces, a thousand at a time. The last ones may be fewer, or none. */
export async function* inThousands<T>(pieces: AsyncIterable<Iterable<T>>): AsyncGenerator<T[], void, void> {
  let waiting: T[] = [];
  for await (const piece of pieces) {
    for (const each of piece) {
      if (waiting.push(each) < blockRows) continue;
      yield waiting;
      waiting = [];
    }
  }
  yield waiting;
}
