import { basename } from 'node:path';
import type { DriftCount } from '../../core/records/drift.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { isBesideTable } from '../../core/records/beside-tables.ts';
import type { FinishedExport, ManifestFile } from '../../exports/finished-export.ts';
import type { ExportStanding } from '../../core/run/record/export-standing.ts';
import { limitOf } from '../../places/export/export-facts.ts';
import { standingFigures } from '../../core/run/record/runs-model.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import type { TableFormat } from '../../exports/table-source.ts';
import { nextSteps } from './next-steps.ts';
import { type OpenedExport, openStanding } from './opened-export.ts';
import type { ProfiledTable, ProfileSource } from './profile/profile-source.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { BaseData, DriftData, FilesOfTable, ReportData, ReportFacts, ReportState } from './report-data.ts';
import { type RunsData, runsData } from './runs.ts';
import { readUnexported } from './unexported.ts';
import { worthALook } from './worth-a-look.ts';

export type ProfileExtent = 'exact' | 'parts' | 'none';

export interface ReportRequest {
  readonly files: FileStore;
  /** Of the export: absolute, or the address of a bucket. */
  readonly folder: string;
  /** How the export stands. */
  readonly standing: ExportStanding;
  /** The local folder where DuckDB finds these files of the export. */
  readonly localFiles: (paths: readonly string[]) => Promise<string>;
  readonly nowMs: number;
  /** Version of this program. */
  readonly version: string;
  /** Rows to profile: all, those of some parts, or none. `parts` above five million rows unless given. */
  readonly extent?: ProfileExtent | undefined;
  /** With more rows only some parts are read, unless all are asked for: five million unless given. */
  readonly mostRows?: number | undefined;
  /** Opens the source of the profile. @throws {ExportError} `usage` when its package is not installed */
  readonly openProfile: () => Promise<ProfileSource>;
}

const mostDrift = 60;
const usualMostRows = 5_000_000;

/** @throws {ExportError} `damaged` */
export async function readReport(request: ReportRequest): Promise<ReportData> {
  const opened = openStanding(request.standing, request.files, request.folder);
  const { view, lines, isHeld } = opened;
  const { manifest } = view;
  const runs = runsData(lines, isHeld) ?? null;
  const isRead = partsToRead(view, request);
  const profiled = await profileOf(view, request, isRead);
  const { account } = standingFigures(request.standing, request.nowMs);
  const tables = Object.entries(manifest.tables);
  const facts: ReportFacts = {
    name: isBucketAddress(request.folder) ? request.folder : basename(request.folder),
    madeBy: manifest.program.version,
    version: request.version,
    state: stateOf(opened, runs),
    limit: limitOf(manifest.job) ?? null,
    counts: { ...manifest.counts, read: manifest.counts.read + account.pending },
    pending: account.pending,
    account,
    base: baseData(manifest),
    calls: manifest.calls,
    credits: manifest.credits,
    parts: manifest.parts,
    rows: tables.reduce((total, [, { rows }]) => total + rows, 0),
    tables: tables.map(([name, { rows, columns }]) => ({ name, rows, columns: columns.length })),
    files: filesByTable(view),
    notes: manifest.notes,
    proofs: manifest.proofs ?? null,
    runs,
    ...profiled,
    drift: driftData(manifest.drift),
    unexported: await readUnexported(view, isRead),
    inputs: manifest.inputs,
    settings: Object.entries(manifest.job).map(([name, value]) => ({ name, value: settingText(value) })),
  };
  return { ...facts, look: worthALook(facts), next: nextSteps(facts) };
}

function baseData({ base, setAside }: Manifest): BaseData | null {
  return base === undefined ? null : { name: base.name, rows: base.rows, isSetAside: setAside !== undefined };
}

function stateOf({ isComplete, isHeld, startedAtMs }: OpenedExport, runs: RunsData | null): ReportState {
  const [first] = runs?.runs ?? [];
  const last = runs?.runs.at(-1);
  return {
    kind: isComplete ? 'complete' : isHeld ? 'goes on' : 'stopped',
    exit: isHeld ? null : (last?.exit ?? null),
    isKilled: !isComplete && !isHeld && last?.ended === 'killed',
    error: isHeld ? null : (last?.error ?? null),
    beganMs: startedAtMs ?? first?.beganMs ?? null,
    endedMs: last?.endedMs ?? null,
  };
}

/** Chooses the parts that are read: each, or every k-th so that there are not too many rows. */
function partsToRead(
  { manifest }: FinishedExport,
  { extent, mostRows = usualMostRows }: Pick<ReportRequest, 'extent' | 'mostRows'>,
): (part: number) => boolean {
  const files = manifest.files.filter(({ table }) => !isBesideTable(table));
  const formatOf = new Map<string, string>();
  for (const { table, format } of files) if (!formatOf.has(table)) formatOf.set(table, format);
  const rowsOf = new Map<number, number>();
  for (const file of files.filter(({ table, format }) => formatOf.get(table) === format)) {
    rowsOf.set(file.part, (rowsOf.get(file.part) ?? 0) + file.rows);
  }
  if (extent === 'exact') return () => true;
  for (let every = 1; every < rowsOf.size; every += 1) {
    const rows = [...rowsOf].reduce((total, [part, count]) => total + (part % every === 0 ? count : 0), 0);
    if (rows <= mostRows) return (part) => part % every === 0;
  }
  return (part) => rowsOf.size <= 1 || part === 0;
}

const preferred: readonly TableFormat[] = ['parquet', 'csv', 'jsonl'];

async function profileOf(
  view: FinishedExport,
  { extent, openProfile, localFiles }: ReportRequest,
  isRead: (part: number) => boolean,
): Promise<Pick<ReportData, 'profile' | 'profileMissing'>> {
  const none = (profileMissing: string) => ({ profile: null, profileMissing });
  if (extent === 'none') return none('they were left out (--profile none, or the run was interrupted)');
  const names = Object.keys(view.manifest.tables);
  const format = preferred.find((each) =>
    names.some((name) => view.filesOf(name).some((file) => file.format === each)),
  );
  if (format === undefined) return none('it has no Parquet, JSONL or unescaped CSV tables');
  let source: ProfileSource;
  try {
    source = await openProfile();
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'usage') throw error;
    return none(error.message);
  }
  try {
    const chosen = names.map((name) => chosenFiles(view, name, format, isRead));
    const folder = await localFiles(chosen.flatMap(({ files }) => files.map(({ path }) => path)));
    const tables = chosen.map((each) => profiledTable(view, each, format, folder));
    const profile = await source.profile(tables);
    const all = view.manifest.parts;
    const read = Array.from({ length: all }, (_, part) => part).filter(isRead).length;
    return { profile: { format, parts: { read, all }, ...profile }, profileMissing: null };
  } catch (error) {
    // A page without these sections says more than none: verify finds what is wrong with a file.
    return none(`DuckDB cannot read the files: ${messageOf(error).split('\n')[0]?.slice(0, 200) ?? ''}`);
  } finally {
    await source.close();
  }
}

interface ChosenFiles {
  readonly name: string;
  readonly files: readonly ManifestFile[];
}

function chosenFiles(
  view: FinishedExport,
  name: string,
  format: TableFormat,
  isRead: (part: number) => boolean,
): ChosenFiles {
  return { name, files: view.filesOf(name).filter((file) => file.format === format && isRead(file.part)) };
}

function profiledTable(
  view: FinishedExport,
  { name, files }: ChosenFiles,
  format: TableFormat,
  folder: string,
): ProfiledTable {
  return {
    source: {
      table: view.table(name),
      format,
      folder,
      csvDialect: view.csvDialect,
      files: files.map(({ path }) => path),
    },
    rows: files.reduce((total, { rows }) => total + rows, 0),
  };
}

function filesByTable({ manifest }: FinishedExport): FilesOfTable[] {
  const sums = new Map<string, FilesOfTable>();
  for (const { table, format, rows, bytes } of manifest.files) {
    const key = `${table} ${format}`;
    const sum = sums.get(key) ?? { table, format, files: 0, rows: 0, bytes: 0 };
    sums.set(key, { ...sum, files: sum.files + 1, rows: sum.rows + rows, bytes: sum.bytes + bytes });
  }
  return [...sums.values()];
}

function driftData(drift: readonly DriftCount[]): DriftData {
  const key = ({ kind, path }: DriftCount): string => `${kind} ${path}`;
  const sorted = [...drift].sort((a, b) => b.count - a.count || (key(a) < key(b) ? -1 : 1));
  return { rows: sorted.slice(0, mostDrift), more: Math.max(0, sorted.length - mostDrift) };
}

function settingText(value: unknown): string {
  if (value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
