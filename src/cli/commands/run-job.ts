import { existsSync } from 'node:fs';
import type { Job } from '../../core/job/job-schema.ts';
import { textOfCell } from '../../core/records/row-block.ts';
import { wholeName } from '../../core/records/table.ts';
import { sampleText } from '../../core/ids/read/list-form.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { codeOf, ExportError } from '../../lib/export-error.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import type { ExportRequest } from '../../core/run/export-assets.ts';
import type { ExportOutcome } from '../../core/run/complete-export.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { RunListener } from '../../core/work/run-events.ts';
import { errorOf } from '../../core/run/tolerance.ts';
import {
  columnLines,
  namedFrom,
  firstColumns,
  nextText,
  rehearsal,
  shortSummary,
  summaryText,
} from '../output/summary-text.ts';
import { endpointToName } from '../flag-values.ts';
import { openRunContext, type RunContext, type RunContextOptions } from '../run-context.ts';
import type { RunSettings } from '../job-flags.ts';
import { errorJson, errorText } from '../output/show-error.ts';
import { isTerminal } from '../progress/show-progress.ts';

export interface JobRun extends RunSettings, RunContextOptions {
  /** What the export is called in messages, the line behind the summary, and what is said first, where they are not the usual ones. */
  readonly words?: { readonly shown: string; readonly next: string; readonly notes?: readonly string[] };
  /** Shown before the run begins. */
  readonly warnings?: readonly string[];
  /** The account of an export that the same command has finished first. */
  readonly before?: AccountJson | undefined;
  /** Takes the account of an export that the command finishes first: as JSON it is printed within the account of the next one. */
  readonly onAccount?: (account: AccountJson) => void;
  /** Makes the export; by default all of it. */
  readonly make?: (context: ExportContext) => Promise<ExportOutcome>;
}

/** The account of a run as `--json` prints it. */
export interface AccountJson extends Readonly<Record<string, unknown>> {
  readonly exitCode: number;
  readonly callsOfRun: number;
  readonly creditsOfRun: number;
}

/** Runs an export with progress and signals, reports the result and closes the service. Resolves to the exit code. */
export async function runJob(request: ExportRequest, settings: JobRun): Promise<number> {
  return thenCleanUp({
    work: () => runOpen(request, settings),
    hasFailed: (exitCode) => exitCode !== exitCodes.complete.code,
    cleanUp: [
      () => settings.open.close(),
      async () => {
        settings.signals.dispose();
      },
    ],
  });
}

async function runOpen(request: ExportRequest, settings: JobRun): Promise<number> {
  const { job, idsFolder, fresh } = request;
  const cwd = settings.terminal.cwd();
  const shown = settings.words?.shown ?? shownPath(job.output.dir, cwd);
  const run = await openRunContext(job, settings);
  const listener: RunListener = (event) => {
    run.context.listener(event);
    // The log has a line of its own for it.
    if (event.kind === 'warning' && run.logEnd === undefined) run.tell(`warning: ${event.message}`);
    if (event.kind === 'pruned' && run.logEnd === undefined)
      run.tell(`output.keep removed ${event.names.join(', ')} from ${shownPath(event.from, cwd)}`);
    if (event.kind === 'opened')
      for (const line of columnLines(
        namedFrom({ columns: event.columns ?? [], invalidSamples: [] }, idsFolder, cwd).columns,
      ))
        run.tell(line);
  };
  let outcome: ExportOutcome;
  try {
    for (const warning of settings.warnings ?? []) run.tell(`warning: ${warning}`);
    for (const note of settings.words?.notes ?? []) run.tell(note);
    if (fresh) {
      const deleted = earlierExport(job.output.dir, shown);
      if (deleted !== undefined) run.tell(`--fresh: ${deleted} is deleted after the ids are read`);
    }
    const make = settings.make ?? (await makeWhole(request));
    outcome = await make({ ...run.context, listener });
  } finally {
    run.end();
  }
  return tellOutcome(outcome, run, {
    ...settings,
    job,
    idsFolder,
    shown,
    next: settings.words?.next ?? nextText(shown, endpointToName(job, settings.terminal)),
  });
}

/** What `--fresh` deletes, in words; undefined where there is nothing. Whether a bucket holds an export is known later. */
function earlierExport(dir: string, shown: string): string | undefined {
  if (isBucketAddress(dir)) return `an earlier export in ${shown}`;
  const holds = [exportPaths.manifest, exportPaths.start].some((name) => existsSync(pathIn(dir, name)));
  return holds ? `the earlier export in ${shown}` : undefined;
}

async function makeWhole(request: ExportRequest): Promise<NonNullable<JobRun['make']>> {
  const { exportAssets } = await import('../../core/run/export-assets.ts');
  return (context) => exportAssets(request, context);
}

/** Prints the account on stdout and reports how an export ended: in the last line of the log, or an error as text. Gives the exit status. */
async function tellOutcome(
  outcome: ExportOutcome,
  { logEnd }: Pick<RunContext, 'logEnd'>,
  said: Pick<JobRun, 'terminal' | 'json' | 'before' | 'onAccount'> &
    Pick<ExportRequest, 'job' | 'idsFolder'> & {
      readonly shown: string;
      readonly next: string;
    },
): Promise<number> {
  const { terminal, job, json, shown, next, before, onAccount } = said;
  const { stdout, stderr } = terminal;
  const error = errorOf(outcome, job);
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  const saved = creditsSaved(outcome.account, job);
  const account = { ...accountJson(outcome, exitCode, error), ...(saved === undefined ? {} : { creditsSaved: saved }) };
  onAccount?.(account);
  const isRefusal = isRefused(outcome);
  const printed = before === undefined ? account : withBefore(account, before);
  // Below what was said of the run on the same terminal.
  if (logEnd === undefined && !isRefusal && !json) stderr.write('\n');
  if (!json && !isRefusal) {
    const ended = error === undefined ? outcome : { ...outcome, error };
    const text = await summaryFor(ended, said, {
      saved,
      isShort: error === undefined && isTerminal(stdout, terminal.env),
    });
    // A log has the error as JSON, so who reads its account alone reads it there.
    const reason = logEnd === undefined || error === undefined ? undefined : errorText(error, terminal.cwd());
    const last = error === undefined ? next : reason;
    stdout.write(`${text}${last === undefined ? '' : `\n\n${last}`}\n`);
  }
  if (json && onAccount === undefined) stdout.write(`${JSON.stringify(printed)}\n`);
  // Last, as the end of a log is what a scheduler shows.
  if (logEnd !== undefined) {
    const hint = error === undefined ? { next: next.replace(/^Next[^:]*: /, '') } : {};
    // The files of a rehearsal are deleted, so its folder is not named.
    const folder = shown === rehearsal ? { folder: undefined } : {};
    const flat = { ...account, counts: undefined };
    logEnd({ ...flat, ...shortLists(outcome), ...folder, ...hint }, error === undefined ? 'info' : 'error');
  } else if (error !== undefined) stderr.write(`${isRefusal ? '' : '\n'}${errorText(error, terminal.cwd())}\n`);
  return exitCode;
}

async function summaryFor(
  outcome: ExportOutcome,
  {
    terminal,
    job,
    idsFolder,
    shown,
  }: Pick<JobRun, 'terminal'> & Pick<ExportRequest, 'job' | 'idsFolder'> & { readonly shown: string },
  { saved, isShort }: { readonly saved: number | undefined; readonly isShort: boolean },
): Promise<string> {
  if (!isShort) return summaryText(namedFrom(outcome, idsFolder, terminal.cwd()), shown, saved);
  // Those of a bucket are not fetched for it, and a rehearsal has none.
  const isHere = !isBucketAddress(job.output.dir) && shown !== rehearsal;
  return shortSummary(outcome, shown, { assets: isHere ? await firstAssets(job.output.dir) : [], saved });
}

/** Cells of three of the first assets of an export in a folder, those with most of them; none where these cannot be read, which `verify` reports. */
async function firstAssets(folder: string): Promise<string[][]> {
  const { openFinished } = await import('../../exports/finished-export.ts');
  try {
    const finished = await openFinished(folder);
    const file = finished.filesOf('assets').find(({ format, rows }) => format !== 'raw' && rows > 0);
    const written = finished.table('assets').columns;
    const columns = firstColumns.flatMap((name) => written.find((column) => wholeName(column) === name) ?? []);
    if (file === undefined || columns.length < firstColumns.length) return [];
    for await (const block of finished.blocks(file, columns)) {
      const rows = Array.from({ length: Math.min(100, block.rows) }, (_, row) =>
        columns.map((_column, index) => textOfCell(block, row * block.width + index) ?? ''),
      );
      const blanks = (row: readonly string[]): number => row.filter((cell) => cell === '').length;
      return rows.sort((a, b) => blanks(a) - blanks(b)).slice(0, 3);
    }
  } catch (error) {
    if (!(error instanceof ExportError) && codeOf(error) === undefined) throw error;
  }
  return [];
}

/** What an export with a base would have cost more without it; undefined without one. */
function creditsSaved(
  { base, counts, credits }: ExportOutcome['account'],
  { service, budget }: Job,
): number | undefined {
  if (base === undefined) return undefined;
  const ids = counts.exported + counts.carried + counts.missing + counts.failed;
  return Math.max(0, Math.ceil(ids / service.idsPerCall) * budget.creditsPerCall - credits);
}

/** True for an error before the first call that a retry does not fix, or of a first contact. An account of zeros would say nothing. */
function isRefused({ error, account: { calls, parts } }: ExportOutcome): boolean {
  return (error?.again === 'never' || error?.why?.kind === 'neverAnswered') && calls === 0 && parts === 0;
}

function accountJson(outcome: ExportOutcome, exitCode: number, error: ExportError | undefined): AccountJson {
  const { account, state, callsOfRun, creditsOfRun, elapsedMs, columns, invalidSamples, lake } = outcome;
  const { counts, files, ...rest } = account;
  return {
    state,
    exitCode,
    ...rest,
    ...counts,
    counts,
    callsOfRun,
    creditsOfRun,
    elapsedMs,
    columns,
    invalidSamples,
    files: files.length,
    ...(lake === undefined ? {} : { lake }),
    error: errorJson(error),
  };
}

/** So many names stand for a list in the log: its length is not bounded, and the manifest has it all. */
const mostNames = 3;

/** The lists of an account in one line of the log. */
function shortLists({ account, columns, invalidSamples }: ExportOutcome): object {
  const short = (names: readonly string[]) => ({ count: names.length, names: names.slice(0, mostNames) });
  return {
    drift: short(account.drift.map(({ path }) => path)),
    columns: short([...new Set(columns.map(({ column }) => column))]),
    invalidSamples: short(invalidSamples.map(sampleText)),
  };
}

/** Adds up what one command spent on two exports. */
function withBefore(account: AccountJson, before: AccountJson): AccountJson {
  return {
    ...account,
    callsOfRun: account.callsOfRun + before.callsOfRun,
    creditsOfRun: account.creditsOfRun + before.creditsOfRun,
    before,
  };
}
