import { basename } from 'node:path';
import type { DriftCount } from '../../core/records/drift.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { isIdTable } from '../../core/records/id-tables.ts';
import { FinishedExport, type ManifestFile } from '../../exports/finished-export.ts';
import { type ExportStanding, type UnfinishedStanding, standingFigures } from '../../core/run/history/run-history.ts';
import { limitOf, proofsText, type Commit, type JobShape } from '../../places/export/export-facts.ts';
import type { Reads } from '../../places/files/disk.ts';
import type { TableFormat } from '../../exports/duckdb-files.ts';
import type { ProfiledTable, ProfileSource } from './profile/profile-source.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type {
  BaseData,
  DriftData,
  FilesOfTable,
  ReportData,
  ReportFacts,
  ReportState,
  NextStep,
  Look,
} from './report-data.ts';
import { type RunsData, runsData } from './runs.ts';
import { readUnexported } from './unexported.ts';
import { plural, count } from '../../lib/format-text.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';
import { tableByName } from '../../core/records/columns.ts';
import { currentEncoding } from '../../core/records/table.ts';
import { shapeTable, type TableShape } from '../../core/records/shape-table.ts';
import { committedCounts, driftOf, notesOf, proofsOf, tableFacts } from '../../places/scratch/commit-sums.ts';
import type { RunLine } from '../../core/run/history/run-lines.ts';

export type ProfileExtent = 'exact' | 'parts' | 'none';

export interface ReportRequest {
  readonly files: Reads;
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
  const files = manifest.files.filter(({ table }) => !isIdTable(table));
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

/** What to do with a complete export. The summary and `status` say how to verify, watch and resume one. */
function nextSteps(facts: ReportFacts): NextStep[] {
  const name = shellWord(facts.name.startsWith('-') ? `./${facts.name}` : facts.name);
  if (facts.state.kind !== 'complete') return [];
  return [
    {
      title: 'Load into DuckDB',
      about: 'Creates the tables and loads them in one transaction.',
      command: `asset-export load ${name} --to duckdb:${fileName(facts.name)}.duckdb`,
    },
    {
      title: 'Load into PostgreSQL',
      about: 'The same; the password is in PGPASSWORD.',
      command: `asset-export load ${name} --to postgres://user@host/database`,
    },
    {
      title: 'Print DDL for a warehouse',
      about: 'Also for snowflake, clickhouse, redshift, duckdb and postgres.',
      command: 'asset-export schema --for bigquery',
    },
    ...againSteps(facts, name),
  ];
}

/** Of a folder or the address of a bucket. */
function fileName(name: string): string {
  return shellWord(basename(name));
}

/** Missing and failed ids, requested again into an export of their own. */
function againSteps(facts: ReportFacts, name: string): NextStep[] {
  const { counts, calls, credits, runs, settings } = facts;
  const ids = counts.missing + counts.failed;
  if (ids === 0) return [];
  const idsPerCall =
    runs?.idsPerCall ?? Number(settings.find((setting) => setting.name === 'service.idsPerCall')?.value ?? 1000);
  const more = Math.ceil(ids / idsPerCall);
  const perCall = runs?.creditsPerCall ?? (calls === 0 ? 0 : credits / calls);
  const fates = counts.failed === 0 ? `outcome = 'missing'` : `outcome IN ('missing', 'failed')`;
  const fate = counts.failed === 0 ? 'missing' : counts.missing === 0 ? 'failed' : 'missing and failed';
  const folder = facts.name.replaceAll("'", "''");
  const query = `COPY (SELECT id FROM read_csv('${folder}/unexported/*.csv*', header = true, all_varchar = true) WHERE ${fates}) TO 'again.csv'`;
  return [
    {
      title: `Request the ${fate} ids again`,
      about: `${plural(ids, 'id')} in ${plural(more, 'call')}, ${plural(more * perCall, 'credit')}. The first command writes their file, the second exports them.`,
      // Only a name that needs no quotes for the shell may stand in double ones.
      command: `duckdb -c ${name === facts.name ? `"${query}"` : shellWord(query)}\nasset-export run job.yaml --ids again.csv --out ${name}-again`,
    },
  ];
}

const mostNames = 6;

/** What a reader should not miss, and no figure of the account shows. */
function worthALook(facts: ReportFacts): Look[] {
  return [...proofLook(facts), ...driftLook(facts), ...nullColumns(facts), ...retryLook(facts)];
}

function proofLook({ proofs }: ReportFacts): Look[] {
  return proofs === null || proofs.unproven === 0
    ? []
    : [{ target: 'facts', link: proofsText(proofs), rest: '', names: [] }];
}

function driftLook({ drift }: ReportFacts): Look[] {
  const [first] = drift.rows;
  if (first === undefined) return [];
  const all = drift.rows.length + drift.more;
  return [
    {
      target: 'drift',
      link: all === 1 ? '1 field has drift' : `${count(all)} fields have drift`,
      rest: `: records differ from the specification, most often at`,
      names: [first.path],
    },
  ];
}

function nullColumns({ profile }: ReportFacts): Look[] {
  const tables = (profile?.tables ?? [])
    .filter(({ rows }) => rows > 0)
    .map(({ name, columns }) => ({ name, empty: columns.filter(({ filled }) => filled === 0) }))
    .filter(({ empty }) => empty.length > 0);
  const [first] = tables;
  if (first === undefined) return [];
  const all = tables.reduce((total, { empty }) => total + empty.length, 0);
  const where = tables.length === 1 ? ` of ${first.name}` : '';
  const names = tables.flatMap(({ name, empty }) =>
    empty.map((each) => (where === '' ? `${name}.${each.name}` : each.name)),
  );
  return [
    {
      target: `columns-${first.name}`,
      link: `${plural(all, 'column')}${where} ${all === 1 ? 'is' : 'are'} always null`,
      rest: all > mostNames ? ', among them' : ':',
      names: names.slice(0, mostNames),
    },
  ];
}

function retryLook({ runs }: ReportFacts): Look[] {
  const reason = runs?.retryReasons[0]?.name;
  if (runs === null || runs.retries === 0) return [];
  return [
    {
      target: 'run',
      link: runs.retries === 1 ? '1 call was retried' : `${count(runs.retries)} calls were retried`,
      rest: reason === undefined ? '' : `, most often: ${reason}`,
      names: [],
    },
  ];
}

/** An export in any state. */
interface OpenedExport {
  /** Its committed parts; of an unfinished export the manifest holds what it would if the export ended here. */
  readonly view: FinishedExport;
  readonly isComplete: boolean;
  /** Whether a process holds it. */
  readonly isHeld: boolean;
  readonly lines: readonly RunLine[];
  /** Milliseconds since 1970 UTC; undefined where a complete export does not keep it. */
  readonly startedAtMs: number | undefined;
}

/** What a report reads of an export that stands so. @param files those of the export, in `folder` */
function openStanding(standing: ExportStanding, files: Reads, folder: string): OpenedExport {
  const { lines } = standing;
  if ('manifest' in standing) {
    const { manifest } = standing;
    const view = new FinishedExport(files, folder, manifest);
    return { view, isComplete: true, isHeld: false, lines, startedAtMs: manifest.startedAtMs };
  }
  const view = new FinishedExport(files, folder, manifestSoFar(standing));
  return {
    view,
    isComplete: false,
    isHeld: standing.owner !== undefined,
    lines,
    startedAtMs: standing.start?.startedAtMs,
  };
}

function manifestSoFar({ start, commits, spent, lines }: UnfinishedStanding): Manifest {
  const { job, inputs } = start ?? { job: {}, inputs: [] };
  const proofs = proofsOf(commits);
  const version = lines.findLast((line) => line.kind === 'run')?.version ?? '';
  return {
    version: 1,
    program: { name: 'asset-export', version },
    encoding: currentEncoding,
    job,
    inputs,
    counts: committedCounts(commits),
    notes: notesOf(commits),
    ...(proofs === undefined ? {} : { proofs }),
    drift: driftOf(commits),
    ...spent,
    parts: commits.length,
    tables: tablesOf(job, commits),
    files: commits.flatMap((commit) => commit.files.map((file) => ({ ...file, first: 0, last: 0 }))),
    commits: [...commits],
  };
}

/** The tables that an unfinished export writes, and their rows so far. */
function tablesOf(job: JobShape, commits: readonly Commit[]): Manifest['tables'] {
  const files = commits.flatMap((commit) => commit.files);
  const names = Array.isArray(job['output.tables']) ? job['output.tables'].map(String) : [];
  const shaped = names.flatMap((name) => {
    const table = tableByName(name);
    return table === undefined ? [] : [shapeTable(table, shapeOf(job)).table];
  });
  return Object.fromEntries(shaped.map((table) => [table.name, tableFacts(table, files)]));
}

/** The values come from a checked job by way of its start, whose checksum detects any change. */
function shapeOf(job: JobShape): TableShape {
  return {
    columns: (job['output.columns'] ?? undefined) as TableShape['columns'],
    exclude: (job['output.exclude'] ?? []) as TableShape['exclude'],
    rename: (job['output.rename'] ?? {}) as TableShape['rename'],
    hasFetchedAt: job['base.from'] !== undefined,
    hasProofs: job['output.proofs'] === true,
    // Only whether there is a stamp decides the columns.
    ...(job['output.exportedAt'] === true ? { exportedAtUs: 0 } : {}),
  };
}
