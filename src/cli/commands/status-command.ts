import { createLogUpdate } from 'log-update';
import { systemClock } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shownPath, shownWord } from '../../lib/addresses/shown-text.ts';
import { storeWithin } from '../../places/objects/object-store.ts';
import { exportFolders, type ExportStatus, statusAt } from '../../wings/status/index.ts';
import type { ListStatus } from '../../wings/listing/index.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { leastGuessMs } from '../../core/run/history/run-figures.ts';
import { bucketFlags, exportPlace, warnOfRepair } from '../export-place.ts';
import type { Command, CommandLine } from '../command.ts';
import type { Terminal } from '../stop-signals.ts';
import { isTerminal } from '../progress/show-progress.ts';
import { cutLine } from '../../lib/format-text.ts';
import { progressBlock, type ProgressFacts } from '../progress/progress-text.ts';
import { errorJson } from '../output/show-error.ts';
import { listStatusText } from '../output/list-text.ts';
import { ownerText, stateText, statusTable, statusText } from '../output/status-text.ts';

/** What the block shows of a run of another process. */
function watchedProgress(status: ExportStatus, nowMs: number): ProgressFacts {
  const { counts, fetched, total, totalExact, parts, partsTotal, rate, etaMs } = status;
  const { exported, carried, missing, invalid, duplicate, failed } = counts;
  const elapsedMs = status.elapsedMs ?? 0;
  const { calls, callsInFlight, callsAtOnce, retries, bytes, credits, creditsLeft } = status;
  const isShown = etaMs !== null && (elapsedMs >= leastGuessMs || status.state === 'waiting');
  return {
    nowMs,
    elapsedMs,
    done: counts.read + fetched,
    total: total ?? undefined,
    totalExact,
    fates: { exported, carried, missing, invalid, duplicate, failed, fetched },
    parts,
    partsTotal: partsTotal ?? undefined,
    idsPerSecond: rate ?? 0,
    ...(isShown ? { left: { ends: 'ids', ms: etaMs, moreDays: 0 } } : {}),
    calls,
    callsInFlight,
    callsAtOnce: callsAtOnce ?? undefined,
    retries,
    bytes,
    credits,
    creditsLeft: creditsLeft ?? undefined,
    pause: pauseOf(status),
    service: status.serviceMessage ?? undefined,
  };
}

function pauseOf({ waitingUntil, pausedUntil, lastError }: ExportStatus): ProgressFacts['pause'] {
  const until = waitingUntil ?? pausedUntil;
  if (until === null) return undefined;
  const kind = waitingUntil === null ? 'paused' : 'waiting';
  return { kind, reason: lastError ?? '', untilMs: Date.parse(until), moreDays: 0 };
}

const watchSeconds = 2;

/** `status`: where an export stands, also while it runs. */
export const statusCommand: Command = {
  usage: ['status <out> [--watch [SECONDS]] [--json]'],
  about: 'Reports the state of an export, also while it runs. Changes nothing and needs no key.',
  examples: [
    { line: 'status asset-export-demo', about: 'progress, cost, and the process that runs it' },
    { line: 'status out/nightly', about: 'a folder of exports: one line each' },
    { line: 'status mints.txt', about: 'a list of ids: complete, unproven, running or stopped' },
    { line: 'status asset-export-demo --watch', about: 'repeats every 2 seconds until the run ends' },
    { line: 'status asset-export-demo --json', about: 'one JSON object for programs' },
  ],
  words: {
    name: '<out>',
    about: 'output folder or bucket of an export (--out, output.dir), a folder of exports, or a list of ids',
    least: 1,
    most: 1,
    is: 'standing',
  },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'json', about: 'print one JSON object' },
        ...bucketFlags,
        {
          name: 'watch',
          value: '[SECONDS]',
          about: 'repeat every SECONDS until no run is left; without a terminal, print one JSON line each time',
          standard: String(watchSeconds),
        },
      ],
    },
  ],
  run: async (args) => {
    const { terminal } = args;
    const place = await exportPlace(args.words[0] ?? '', args);
    const everyMs = watchMs(args);
    const list = await listAt(place);
    if (list !== undefined) {
      if (everyMs !== undefined) throw noWatch;
      terminal.stdout.write(args.isOn('json') ? `${JSON.stringify(list)}\n` : listStatusText(list, terminal.cwd()));
      return exitCodes.complete.code;
    }
    await warnOfRepair(place, args);
    if (everyMs === undefined) {
      const seen = await look(place);
      terminal.stdout.write(args.isOn('json') ? jsonLine(seen) : textOf(seen, terminal.cwd()));
    } else await watch(place, everyMs, args.isOn('json') || !isTerminal(terminal.stdout, terminal.env), terminal);
    return exitCodes.complete.code;
  },
};

function watchMs(args: CommandLine): number | undefined {
  const text = args.text('watch');
  if (text === undefined) return undefined;
  const seconds = text === '' ? watchSeconds : Number(text);
  if (seconds > 0) return seconds * 1000;
  throw new ExportError('usage', `--watch must be a number of seconds above 0, not "${shownWord(text)}"`);
}

const noWatch = new ExportError('usage', 'a list of ids cannot be watched', { todo: 'Leave out --watch.' });

/** A list of ids that a path names; undefined where an export lies there. */
async function listAt({ files, folder, store }: ExportPlace): Promise<ListStatus | undefined> {
  if (store.isShared || (await exportFolders(files, folder)).length > 0) return undefined;
  const { listStatus } = await import('../../wings/listing/index.ts');
  return listStatus(files, folder);
}

/** What was seen of a folder: the one export that it is, or those in it. */
interface Seen {
  readonly folder: string;
  readonly isOne: boolean;
  readonly exports: readonly SeenExport[];
}

interface SeenExport {
  readonly folder: string;
  /** Among several, one that cannot be read does not hide the others. */
  readonly status: ExportStatus | ExportError;
}

async function look(place: ExportPlace): Promise<Seen> {
  const { files, folder } = place;
  const found = await exportFolders(files, folder);
  const isOne = found.length === 0 || found[0] === folder;
  // A folder without any is reported as one export that is not there.
  if (isOne) return { folder, isOne, exports: [{ folder, status: await statusIn(place, folder) }] };
  const exports: SeenExport[] = [];
  for (const each of found) exports.push({ folder: each, status: await statusOrError(place, each) });
  return { folder, isOne, exports };
}

function statusIn({ files, store: around, folder: top }: ExportPlace, folder: string): Promise<ExportStatus> {
  const store = storeWithin(around, folder.slice(top.length).replace(/^\//, ''));
  return statusAt({ files, folder, store }, systemClock.now());
}

async function statusOrError(place: ExportPlace, folder: string): Promise<ExportStatus | ExportError> {
  try {
    return await statusIn(place, folder);
  } catch (error) {
    if (error instanceof ExportError) return error;
    throw error;
  }
}

async function watch(place: ExportPlace, everyMs: number, asJson: boolean, { stdout, cwd }: Terminal): Promise<void> {
  const block = asJson ? undefined : createLogUpdate(stdout);
  for (;;) {
    const seen = await look(place);
    if (block === undefined) stdout.write(jsonLine(seen));
    else block(watchedText(seen, stdout.columns || 80, cwd()));
    if (!seen.exports.some(isLive)) break;
    await systemClock.sleep(everyMs);
  }
  block?.done();
}

/** The progress block of a live run, as the process that runs it shows it; the state of all others. */
function watchedText(seen: Seen, columns: number, cwd: string): string {
  const [first] = seen.exports;
  if (!seen.isOne || first === undefined || first.status instanceof ExportError || !isLive(first))
    return textOf(seen, cwd);
  const head = `${shownPath(first.folder, cwd)} is ${stateText(first.status)}${ownerText(first.status)}`;
  return `${cutLine(head, columns)}\n${progressBlock(watchedProgress(first.status, systemClock.now()), columns)}\n`;
}

function isLive({ status }: SeenExport): boolean {
  return !(status instanceof ExportError) && (status.state === 'running' || status.state === 'waiting');
}

function jsonLine({ folder, isOne, exports }: Seen): string {
  const objects = exports.map(({ folder: each, status }) => ({
    folder: each,
    ...(status instanceof ExportError ? { error: errorJson(status) } : status),
  }));
  return `${JSON.stringify(isOne ? objects[0] : { folder, exports: objects })}\n`;
}

function textOf({ isOne, exports }: Seen, cwd: string): string {
  const shown = exports.map((each) => ({ ...each, shown: shownPath(each.folder, cwd) }));
  const [first] = shown;
  if (!isOne || first === undefined || first.status instanceof ExportError) return statusTable(shown);
  return statusText(first.status, first.shown);
}
