import { dayMs } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';
import type { CommandArguments, CommandFlag } from './command.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error'];

/** What holds where a flag is not given. */
const standards = { graceMs: '20000', logLevel: 'info' };

/** Flags of commands that run a job. */
export const runFlags: readonly CommandFlag[] = [
  { name: 'json', about: 'print the account as one JSON object on stdout' },
  {
    name: 'grace-ms',
    value: 'MS',
    about: 'how long to wait for answers in flight after SIGINT or SIGTERM; at most a day',
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
  readonly graceMs: number;
  readonly logLevel: string;
  readonly json: boolean;
}

/** What `runFlags` were given. @throws {ExportError} `usage` */
export function runSettings(args: CommandArguments): RunSettings {
  return {
    graceMs: graceMs(args.text('grace-ms') ?? standards.graceMs),
    logLevel: logLevelOf(args.text('log-level') ?? standards.logLevel),
    json: args.isOn('json'),
  };
}

function graceMs(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= dayMs) return Number(text);
  throw new ExportError(
    'usage',
    `--grace-ms must be a number of milliseconds, at most ${dayMs} (a day), not "${text}"`,
  );
}

function logLevelOf(text: string): string {
  if (logLevels.includes(text)) return text;
  throw new ExportError('usage', `--log-level must be one of ${logLevels.join(', ')}, not "${text}"`);
}
