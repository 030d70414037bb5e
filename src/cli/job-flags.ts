import { environmentName, type JobField, jobFields } from '../core/job/job-fields.ts';
import { type LoadedJob, loadJob } from '../core/job/load-job.ts';
import type { Command, CommandArguments, CommandFlag, CommandLine, CommandWords, FlagGroup } from './command.ts';
import { dayMs } from '../lib/clock.ts';
import { choiceOf, countOf } from './flag-values.ts';
import { type StopSignals, stopSignals, type Terminal } from './stop-signals.ts';

/** The job file, for commands that take one. */
export const jobWords: CommandWords = {
  name: '[job]',
  about: 'job file (YAML), unless --ids, --url and --out are given',
  least: 0,
  most: 1,
  is: 'job',
};

const titles: Readonly<Record<string, string>> = {
  ids: 'Ids',
  service: 'Service',
  budget: 'Budget',
  base: 'Base',
  output: 'Output',
  fleet: 'Many machines, and exports in buckets',
  csv: 'CSV',
  tolerance: 'Tolerance',
  metrics: 'Metrics',
  notify: 'Notifications',
  lineage: 'Lineage',
};

/** Of a job file, in its order. */
const sections = [...new Set(jobFields.map(sectionOf))];

/** Where the credits are booked. */
export const stateGroup: FlagGroup = {
  title: 'This command',
  flags: [
    {
      name: 'state-dir',
      value: 'DIR',
      about: 'folder of the credit ledger (else the environment variable ASSET_EXPORT_STATE)',
      standard: '$XDG_STATE_HOME/asset-export',
    },
  ],
};

/**
 * A command that takes a job: its file, and a flag for each of its fields.
 * @param flags of this command @param more groups between these and those of the job
 */
export function jobCommand(
  command: Omit<Command, 'groups'>,
  flags: readonly CommandFlag[],
  ...more: readonly FlagGroup[]
): Command {
  const { words = jobWords } = command;
  return { ...command, words, groups: [{ title: 'This command', flags }, ...more, ...jobFlagGroups()] };
}

/** A flag for each job field, by the sections of a job file; all of them, or those named. */
export function jobFlagGroups(...only: readonly string[]): FlagGroup[] {
  const chosen = only.length === 0 ? sections : sections.filter((section) => only.includes(section));
  return groupsOf(chosen, flagOf).map((group) => ({ ...group, shared: group.flags }));
}

/** The shared ledger, for commands that send calls but make no export. */
export const fleetGroups: readonly FlagGroup[] = jobFlagGroups('fleet').map((group) => ({
  ...group,
  flags: [jobFlag('fleet.database')],
}));

/** Every job field under its path, with its flag. */
export function jobFieldGroups(): FlagGroup[] {
  return groupsOf(sections, (field) => {
    const flag = flagOf(field);
    return { ...flag, name: field.path, about: `${flag.about} (--${flag.name})` };
  });
}

function groupsOf(chosen: readonly string[], flag: (field: JobField) => CommandFlag): FlagGroup[] {
  return chosen.map((section) => ({
    title: titles[section] ?? section,
    flags: jobFields.filter((field) => sectionOf(field) === section).map(flag),
  }));
}

/** The flag of one job field. */
export function jobFlag(path: string): CommandFlag {
  const field = jobFields.find((each) => each.path === path);
  if (field === undefined) throw new Error(`${path} is no job field`);
  return flagOf(field);
}

function sectionOf({ path }: JobField): string {
  return path.split('.')[0] ?? '';
}

function flagOf(field: JobField): CommandFlag {
  const standard = standardText(field.defaultValue);
  const choices = field.choices?.join('|') ?? '';
  const named = field.value ?? (choices.length <= 12 ? choices : 'NAME');
  return {
    name: field.flag,
    ...(field.kind === 'boolean' ? {} : { value: named }),
    about:
      field.choices === undefined || named === choices
        ? field.description
        : `${field.description}: ${field.choices.join(', ')}`,
    ...(field.choices === undefined ? {} : { choices: field.choices }),
    ...(standard === undefined ? {} : { standard }),
  };
}

/** What holds when a field is not given, as one would write it; undefined when nothing does. */
export function standardText(value: unknown): string | undefined {
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return undefined;
  if (value === true) return 'on';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([name, item]) => `${name}=${String(item)}`);
    return pairs.length === 0 ? undefined : pairs.join(',');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The job that the arguments and the environment describe; `fixed` are flags that the command sets itself. */
export function jobOf(args: CommandLine, fixed: Readonly<Record<string, unknown>> = {}): LoadedJob {
  const [file] = args.words;
  return loadJob({
    ...(file === undefined ? {} : { file }),
    flags: Object.fromEntries(jobFields.map(({ flag }) => [flag, fixed[flag] ?? args.value(flag)])),
    environment: args.terminal.env,
    folder: args.terminal.cwd(),
  });
}

/** The job flags that a command line names, as the parser left them. */
export function jobFlagsGiven(args: CommandArguments): Record<string, unknown> {
  return Object.fromEntries(
    jobFields.flatMap(({ flag }) => (args.value(flag) === undefined ? [] : [[flag, args.value(flag)]])),
  );
}

/** Said before the flags of a job. */
export const jobNotes = `Every flag is also a job field (asset-export help job) and an environment variable (--ids-per-call: ${environmentName('ids-per-call')}). Precedence: flag, environment, job file. For lists, repeat the flag or separate values with commas; --ids also takes several files. Numbers: 3000000, 3_000_000, 3,000,000 or 3M.`;

const logLevels = ['trace', 'debug', 'info', 'warn', 'error'];

/** What holds where a flag is not given. */
export const standards = { graceMs: '20000', logLevel: 'info' };

/** Flags of commands that run a job. */
export const runFlags: readonly CommandFlag[] = [
  { name: 'json', about: 'print the account as one JSON object on stdout' },
  {
    name: 'grace-ms',
    value: 'MS',
    about: 'how long to wait after SIGINT, SIGTERM or SIGHUP for answers in flight, bucket and database; at most a day',
    standard: standards.graceMs,
  },
  {
    name: 'log-level',
    value: 'LEVEL',
    choices: logLevels,
    about: `lowest level of the log, used without a terminal: ${logLevels.join(', ')}`,
    standard: standards.logLevel,
  },
];

export interface RunSettings {
  readonly terminal: Terminal;
  /** With the time of grace; nobody listens yet. */
  readonly signals: StopSignals;
  readonly logLevel: string;
  readonly json: boolean;
}

/** What `runFlags` were given. @param logLevel where no flag says it @throws {ExportError} `usage` */
export function runSettings(args: CommandLine, logLevel = standards.logLevel): RunSettings {
  const { terminal } = args;
  return {
    terminal,
    signals: stopSignals(countOf(args, 'grace-ms', { most: dayMs }) ?? Number(standards.graceMs), terminal),
    logLevel: choiceOf(args, 'log-level', logLevels) ?? logLevel,
    json: args.isOn('json'),
  };
}
