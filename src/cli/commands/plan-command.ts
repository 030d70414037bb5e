import { diskText } from '../../core/run/disk-estimate.ts';
import { runWings } from '../../world/wings.ts';
import { makeTemporary } from '../../lib/disk/on-disk.ts';
import { rm } from 'node:fs/promises';
import { type Job, isDated, jobOn, jobWarnings } from '../../core/job/job-schema.ts';
import { ignoredProxy } from '../../core/client/wire/proxy-settings.ts';
import { systemClock, utcDay } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { defaultDialect } from '../../core/client/dialects.ts';
import { isChange } from '../../core/run/job-shape.ts';
import type { ExportPlan } from '../../core/run/plan-export.ts';
import { prepareInputs } from '../../core/ids/prepare-inputs.ts';
import { limitText } from '../../places/export/export-facts.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { CommandLine } from '../command.ts';
import { exportBefore, leftAlone, bookedOf, requireRecords } from '../run-context.ts';
import { byteSize, count, duration, plural, printable } from '../../lib/format-text.ts';
import { columnLines, invalidLines, namedFrom } from '../output/summary-text.ts';
import { jobCommand, jobOf, stateGroup, runFlags, runSettings } from '../job-flags.ts';
import type { Terminal } from '../stop-signals.ts';
import { errorJson, errorText, showWarning } from '../output/show-error.ts';

/** `plan`: reads all ids and prints the bill. Sends nothing. */
export const planCommand = jobCommand(
  {
    usage: ['plan <job.yaml> [flags]', 'plan --ids FILE --url BASE --out DIR [flags]'],
    about: 'Reads all ids and prints what it costs to finish the export. Sends nothing and needs no key.',
    examples: [
      { line: 'plan job.yaml', about: 'calls, credits, days and disk of a job' },
      {
        line: 'plan job.yaml --credits-per-day 3000000 --credits-per-second 500',
        about: 'duration under the limits of a free plan',
      },
    ],
    run: async (args) => {
      const { json } = runSettings(args);
      // Ids from stdin are stored in the temporary folder, so that a plan does not change the export.
      const folder = await makeTemporary('plan');
      try {
        return tellPlan(await planRun(args, folder), json, args.terminal);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  },
  [
    { name: 'json', about: 'print one JSON object' },
    { name: 'fresh', about: 'ignore what earlier runs exported' },
    ...stateGroup.flags,
  ],
  {
    title: 'Flags of run that plan ignores',
    flags: runFlags.filter(({ name }) => name !== 'json'),
  },
);

/** The cost of one command: of the export that it finishes first, and of its own export. */
interface RunPlan {
  readonly job: Job;
  readonly idsFolder: string;
  readonly plan: ExportPlan;
  readonly before: (ExportPlan & { readonly folder: string }) | null;
  readonly warnings: readonly string[];
  /** Why a run would be refused, or end with another exit status than 0, whatever the service answers. */
  readonly error: ExportError | undefined;
}

async function planRun(args: CommandLine, temporary: string): Promise<RunPlan> {
  const { planExport } = await import('../../core/run/plan-export.ts');
  const { openHome } = await import('../../core/run/homes/open-home.ts');
  const { job: given, idsFolder, outputDir } = jobOf(args);
  const files = localDisk;
  const today = utcDay(systemClock.now());
  const job = jobOn(given, today);
  await (await openHome(job, { files, clock: systemClock, random: Math.random })).requireOwn();
  await requireRecords(job);
  const { bucketIds } = await import('../../core/run/homes/open-home.ts');
  const findRemote = bucketIds(job, { clock: systemClock, random: Math.random });
  const { stdin } = args.terminal;
  const warnings = jobWarnings(job);
  const ledger = await bookedOf(job, args, (why) => {
    warnings.push(
      `${why.message}: a run would end with exit ${why.exitCode}, and credits booked today are not counted`,
    );
  });
  const onNote = (note: string): void => {
    warnings.push(note);
  };
  const sources = { job, idsFolder, outputDir, files, stdin, folder: temporary, findRemote, onNote };
  const prepared = await prepareInputs(sources);
  const request = { prepared, files, outputDir, ...runWings, ...(ledger === undefined ? {} : { ledger }) };
  const ignored = ignoredProxy(job.service.url, args.terminal.env);
  if (ignored !== undefined) warnings.push(ignored);
  const first = args.isOn('fresh') ? undefined : await exportBefore({ files }, given, today);
  const planBefore = async (unfinished: Job) => {
    const { requireFree } = await import('../../places/files/lock.ts');
    await requireFree(unfinished.output.dir);
    return { folder: unfinished.output.dir, ...(await planExport({ job: unfinished, ...request })) };
  };
  if (first?.warning !== undefined) warnings.push(first.warning);
  const before =
    first?.job === undefined
      ? null
      : await planBefore(first.job).catch((error: unknown) => {
          if (!isChange(error)) throw error;
          warnings.push(leftAlone(error));
          return null;
        });
  const fresh = args.isOn('fresh');
  const plan = await planExport({ job, ...request, callsBefore: before?.calls ?? 0, fresh });
  warnings.push(...plan.warnings);
  const { shortOfEarlier } = isDated(given) ? await import('../../wings/nights/index.ts') : {};
  const short = await shortOfEarlier?.(given, { files }, { read: plan.read, today });
  if (short !== undefined) warnings.push(short);
  if (before !== null && plan.base !== null && plan.base.folder !== job.base.from) {
    const [next, old] = [before.folder, plan.base.folder].map((folder) => shownPath(folder, args.terminal.cwd()));
    warnings.push(
      `${next} may become the base once it is finished; this plan assumes ${old}, so the run may need fewer calls`,
    );
  }
  return { job, idsFolder, plan, before, warnings, error: await refusal(job, plan) };
}

/** The error that a run would end with, if the plan can already tell. */
async function refusal(job: Job, plan: ExportPlan): Promise<ExportError | undefined> {
  const { intolerableIds } = await import('../../core/run/tolerance.ts');
  const { requireRunnable } = await import('../../core/run/disk-estimate.ts');
  try {
    requireRunnable(job);
  } catch (error) {
    if (error instanceof ExportError) return error;
    throw error;
  }
  return intolerableIds(plan, job);
}

function tellPlan(
  { job, idsFolder, plan, before, warnings, error }: RunPlan,
  json: boolean,
  terminal: Terminal,
): number {
  const { stdout, stderr } = terminal;
  const cwd = terminal.cwd();
  const { dir } = job.output;
  const calls = plan.calls + (before?.calls ?? 0);
  const credits = plan.credits + (before?.credits ?? 0);
  if (json) {
    stdout.write(
      `${JSON.stringify({ folder: dir, ...plan, calls, credits, before, warnings, error: errorJson(error) })}\n`,
    );
  } else {
    stdout.write(planText({ ...namedFrom(plan, idsFolder, cwd), calls, credits }, before, job.output.keep, cwd));
    for (const warning of warnings) showWarning(warning, terminal);
  }
  if (error !== undefined) stderr.write(`${errorText(error, cwd)}\n`);
  return error?.exitCode ?? exitCodes.complete.code;
}

function planText(plan: ExportPlan, before: RunPlan['before'], keep: Job['output']['keep'], cwd: string): string {
  const rows: readonly (readonly [string, string])[] = [
    ['read', `${count(plan.read)}${plan.limit === null ? '' : `   ${limitText(plan.limit)}`}`],
    ['valid', count(plan.valid)],
    ['invalid', count(plan.invalid)],
    ['duplicates', count(plan.duplicates)],
    ['already done', count(plan.alreadyDone)],
    ...baseRows(plan.base, cwd),
    ...(plan.price.dialect === defaultDialect.name ? [] : [['dialect', plan.price.dialect] as const]),
    ['calls', count(plan.calls)],
    ['credits', creditsText(plan)],
    ...(plan.calls === 0 ? [] : [['limit', limitOfCalls(plan)] as const]),
    ...(plan.base === null
      ? []
      : [['memory', `about ${byteSize(plan.base.memoryBytes)} for the ids of the base`] as const]),
    ...(before === null
      ? []
      : [
          [
            'first',
            `${shownPath(before.folder, cwd)} is finished first, with ${plural(before.calls, 'call')} of the total`,
          ] as const,
        ]),
    ...(plan.singleCallsAtMost === 0
      ? []
      : [['single calls', `${count(plan.singleCallsAtMost)} more at most: one for each missing id`] as const]),
    ['days', daysText(plan)],
    ['time', plan.seconds === null ? 'no rate limit set' : `${duration(plan.seconds * 1000)} at the rate limit`],
    ...(plan.completesAt === null ? [] : [['done', doneText(plan.completesAt)] as const]),
    ...(plan.lostDiskCalls === null
      ? []
      : [
          [
            'lost disk',
            `about ${plural(plan.lostDiskCalls, 'call')} repeated if a machine and its scratch folder are lost`,
          ] as const,
        ]),
    ...(keep === undefined ? [] : [['then keeps', keepText(keep, plan.removes)] as const]),
    ['disk', diskText({ finished: plan.diskBytes, peak: plan.diskPeakBytes, free: plan.diskFreeBytes })],
  ];
  const lines = [
    ...rows.map(([name, value]) => `${name.padEnd(13)} ${value}`),
    ...columnLines(plan.columns),
    ...invalidLines(plan),
  ];
  return `${lines.map((line) => `  ${line}`).join('\n')}\n`;
}

/** What `output.keep` keeps after the run, and which nights it removes. */
function keepText(rules: NonNullable<Job['output']['keep']>, removes: readonly string[]): string {
  const kept = Object.entries(rules).filter(([, number]) => number > 0);
  const removed = removes.length === 0 ? 'removes none' : `removes ${removes.map(printable).join(', ')}`;
  return `${kept.map(([rule, number]) => `${rule} ${number}`).join(', ')}; ${removed}`;
}

function creditsText({ credits, price, base }: ExportPlan): string {
  const bill = `${count(credits)} (${count(price.creditsPerCall)} a call: ${price.source})`;
  return base === null ? bill : `${bill}     requesting all: ${count(base.creditsForAll)}`;
}

/** What the run may cost, whatever the service does. */
function limitOfCalls({ callsAtMost, price }: ExportPlan): string {
  if (callsAtMost === null) return 'none, whatever the service does (--overrun none)';
  return `never more than ${plural(callsAtMost, 'call')}, ${count(callsAtMost * price.creditsPerCall)} credits (budget.overrun)`;
}

/** What is requested of an export with a base, and what it takes from it. */
function baseRows(base: ExportPlan['base'], cwd: string): readonly (readonly [string, string])[] {
  if (base === null) return [];
  const { asked } = base;
  const classes = base.classes
    .filter(({ asked: rows }) => rows > 0)
    .map(({ when, asked: rows }) => `${when.length === 0 ? 'others' : when.join(' ')} ${count(rows)}`);
  const note = (text: string): string => (text === '' ? '' : `   ${text}`);
  return [
    ['base', `${shownPath(base.folder, cwd)}, ${plural(base.rows, 'asset')}`],
    ['new', count(asked.new)],
    ...(asked.failed === 0 ? [] : [['failed again', count(asked.failed)] as const]),
    ['stale', `${count(asked.stale - base.filledUp)}${base.filledUp === 0 ? note(classes.join(' · ')) : ''}`],
    ...(base.filledUp === 0
      ? []
      : [['filled up', `${count(base.filledUp)} (same call)   together: ${classes.join(' · ')}`] as const]),
    ['missing again', count(asked.missing)],
    ['carried', `${count(base.carried)}   ${count(base.overdue)} overdue`],
    ...(base.unlisted === 0
      ? []
      : [['unlisted', `${count(base.unlisted)}   in the base, and not listed now`] as const]),
  ];
}

function daysText({ days, leftToday }: ExportPlan): string {
  if (days === null) return '1 (no daily budget set)';
  if (days === 'never') return 'never: the daily budget is below the price of one call';
  return `${plural(days, 'day')} under the budget, ${count(leftToday ?? 0)} credits left today`;
}

/** To the minute, as the pace of the service is not known. */
function doneText(completesAt: string): string {
  const minute = new Date(Math.ceil(Date.parse(completesAt) / 60_000) * 60_000).toISOString();
  return `${minute.slice(0, 10)} about ${minute.slice(11, 16)} UTC, if it starts now`;
}
