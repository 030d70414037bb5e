import { runWings } from '../../../world/wings.ts';
import { setFlagsFromString } from 'node:v8';
import { type Job, jobWarnings } from '../../../core/job/job-schema.ts';
import { systemClock } from '../../../lib/clock.ts';
import { exitCodes } from '../../../lib/exit-codes.ts';
import { count, plural } from '../../../lib/format-text.ts';
import { shownPath } from '../../../lib/addresses/shown-text.ts';
import type { Enqueued, EnqueueProgress } from '../../../wings/fleet/index.ts';
import { limitText } from '../../../places/export/export-facts.ts';
import { localDisk } from '../../../places/files/disk.ts';
import type { CommandLine } from '../../command.ts';
import { jobCommand, jobFlagGroups, jobOf } from '../../job-flags.ts';
import { columnLines, invalidLines, nextText } from '../../output/summary-text.ts';
import { errorJson, errorText } from '../../output/show-error.ts';
import { isTerminal } from '../../progress/show-progress.ts';
import { redrawnBlock } from '../../progress/redrawn-block.ts';
import { endpointToName, sameLine } from '../../flag-values.ts';
import { stopSignals, type Terminal } from '../../stop-signals.ts';

/** `enqueue`: puts the slices of an export into its bucket. */
export const enqueueCommand = jobCommand(
  {
    usage: ['enqueue <job.yaml> [flags]'],
    about:
      'Reads all ids, marks duplicates across all of them, and writes slices of ids into the bucket of the export, for asset-export work. With fleet.database it also adds the slices to a queue. Sends no call and needs no key. Run it again after an interruption: it writes what is missing and changes nothing else. Changed ids are refused with exit 4. Finding duplicates takes 22 bytes of memory per id; above 80 % of the memory limit it ends with exit 2.',
    examples: [{ line: 'enqueue job.yaml', about: 'then start workers: asset-export work job.yaml' }],
    run: (args) => enqueue(args),
  },
  [
    { name: 'fresh', about: 'delete the export and its slices, and start over' },
    { name: 'json', about: 'print one JSON object' },
  ],
);

/**
 * The tables of ids and the pieces of files lie outside V8's heap, but count as its growth: a heap of 16 MB was collected every
 * 3 MB. So 400 % more may come between two collections: it takes 14 % less of the processor. What lives for a moment need not grow.
 */
const heapFlags = ['--heap-growing-percent=400', '--semi-space-growth-factor=1'];

async function enqueue(args: CommandLine): Promise<number> {
  for (const flag of heapFlags) setFlagsFromString(flag);
  const { job, idsFolder } = jobOf(args);
  const { enqueueJob } = await import('../../../wings/fleet/index.ts');
  const { intolerableIds } = await import('../../../core/run/tolerance.ts');
  const shown = showEnqueuing(args.terminal);
  const signals = stopSignals(0, args.terminal);
  signals.listen(shown.tell);
  let enqueued: Enqueued;
  try {
    for (const warning of jobWarnings(job)) shown.tell(`asset-export: warning: ${warning}`);
    enqueued = await enqueueJob(
      { job, idsFolder, fresh: args.isOn('fresh') },
      {
        clock: systemClock,
        random: Math.random,
        files: localDisk,
        stdin: args.terminal.stdin,
        stop: signals.stop,
        abort: signals.abort,
        lake: runWings.lake,
        onProgress: shown.onProgress,
        onNote: (note) => {
          shown.tell(`asset-export: warning: ${note}`);
        },
      },
    );
  } finally {
    signals.dispose();
    shown.end();
  }
  const error = intolerableIds(enqueued, job);
  if (args.isOn('json')) {
    args.terminal.stdout.write(
      `${JSON.stringify({ folder: job.output.dir, limit: job.ids.limit ?? null, ...enqueued, error: errorJson(error) })}\n`,
    );
  } else args.terminal.stdout.write(enqueuedText(enqueued, job, args.terminal.cwd()));
  args.terminal.stderr.write(
    `${error === undefined ? nextLine(enqueued, args, job) : errorText(error, args.terminal.cwd())}\n`,
  );
  return error?.exitCode ?? exitCodes.complete.code;
}

function enqueuedText(enqueued: Enqueued, { output, ids: { limit } }: Job, cwd: string): string {
  const address = shownPath(output.dir, cwd);
  const { state, put, slices } = enqueued;
  const heads = {
    enqueued: `${address}: ${plural(slices, 'slice')} enqueued${put === slices ? '' : `, ${count(put)} of them now`}`,
    already: `${address}: all ${plural(slices, 'slice')} were enqueued before; nothing changed`,
    complete: `${address} was already complete: nothing enqueued`,
  };
  const rows = [
    ['read', enqueued.read],
    ['valid', enqueued.valid],
    ['invalid', enqueued.invalid],
    ['duplicates', enqueued.duplicates],
    ['calls', enqueued.calls],
    ['credits', enqueued.credits],
  ] as const;
  return [
    heads[state],
    ...(limit === undefined ? [] : [`  ${limitText(limit)}`]),
    ...rows.map(([name, value]) => `  ${name.padEnd(13)} ${count(value)}`),
    ...columnLines(enqueued.columns).map((line) => `  ${line}`),
    ...invalidLines(enqueued).map((line) => `  ${line}`),
    '',
  ].join('\n');
}

function nextLine({ state }: Enqueued, args: CommandLine, job: Job): string {
  if (state === 'complete') return nextText(job.output.dir, endpointToName(job, args.terminal));
  const flags = jobFlagGroups().flatMap((group) => group.flags);
  return `Next, on each machine: ${sameLine('work', args, flags)}`;
}

/** A line every so many seconds where there is no terminal. */
const tellEveryMs = 30_000;

function showEnqueuing({ stderr, env }: Terminal) {
  let latest: EnqueueProgress | undefined;
  const text = (): string =>
    latest === undefined
      ? 'reading'
      : `reading: ${plural(latest.entries, 'id')}, ${plural(latest.slices, 'slice')} put`;
  const tell = (message: string): void => {
    stderr.write(`${message}\n`);
  };
  const block = isTerminal(stderr, env) ? redrawnBlock(() => ({ text: text() }), stderr) : undefined;
  let toldMs = systemClock.monotonic();
  return {
    tell,
    onProgress: (progress: EnqueueProgress): void => {
      latest = progress;
      if (block !== undefined || systemClock.monotonic() - toldMs < tellEveryMs) return;
      toldMs = systemClock.monotonic();
      tell(text());
    },
    end: (): void => {
      block?.end();
    },
  };
}
