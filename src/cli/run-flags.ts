import { dayMs } from '../lib/clock.ts';
import type { CommandFlag, CommandLine } from './command.ts';
import { choiceOf, countOf } from './flag-values.ts';
import { type StopSignals, stopSignals } from './stop-signals.ts';
import type { Terminal } from './terminal.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error'];

/** What holds where a flag is not given. */
const standards = { graceMs: '20000', logLevel: 'info' };

/** Flags of commands that run a job. */
export const runFlags: readonly CommandFlag[] = [
  { name: 'json', about: 'print the account as one JSON object on stdout' },
  {
    name: 'grace-ms',
    value: 'MS',
    about: 'how long to wait after SIGINT or SIGTERM for answers in flight, bucket and database; at most a day',
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

/** What `runFlags` were given. @throws {ExportError} `usage` */
export function runSettings(args: CommandLine): RunSettings {
  const { terminal } = args;
  return {
    terminal,
    signals: stopSignals(countOf(args, 'grace-ms', { most: dayMs }) ?? Number(standards.graceMs), terminal),
    logLevel: choiceOf(args, 'log-level', logLevels) ?? standards.logLevel,
    json: args.isOn('json'),
  };
}
