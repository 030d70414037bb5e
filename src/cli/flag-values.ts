import type { ServiceDialect } from '../core/client/dialects.ts';
import { readNamedDialect } from '../core/job/dialect-file.ts';
import { dialectOf } from '../core/job/job-dialect.ts';
import { environmentName } from '../core/job/job-fields.ts';
import { ExportError } from '../lib/export-error.ts';
import { byteSize, numberIn, nearestName } from '../lib/format-text.ts';
import { commandLine, shownWord } from '../lib/addresses/shown-text.ts';
import type { CommandArguments, CommandFlag, CommandLine } from './command.ts';
import type { Job } from '../core/job/job-schema.ts';
import type { Terminal } from './stop-signals.ts';

/** The value of a flag that takes one of some names; undefined when it is not given. @throws {ExportError} `usage` */
export function choiceOf<T extends string>(args: CommandArguments, flag: string, names: readonly T[]): T | undefined {
  const text = args.text(flag);
  const name = names.find((each) => each === text);
  if (name !== undefined || text === undefined) return name;
  const near = nearestName(text, names);
  const guess = near === undefined ? '' : `; did you mean ${near}?`;
  throw new ExportError('usage', `--${flag} must be one of ${names.join(', ')}, not "${shownWord(text)}"${guess}`);
}

/** The value of a flag that takes a whole number; undefined when it is not given. @throws {ExportError} `usage` */
export function countOf(
  args: CommandArguments,
  flag: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER } = {},
): number | undefined {
  const text = args.text(flag);
  if (text === undefined) return undefined;
  const number = numberIn(text) ?? Number.NaN;
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  const from = least === 0 ? '' : ` from ${least}`;
  const to = most === Number.MAX_SAFE_INTEGER ? '' : `, at most ${most}`;
  throw new ExportError('usage', `--${flag} must be a whole number${from}${to}, not "${shownWord(text)}"`);
}

const units: Readonly<Record<string, number>> = { '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** The value of a flag that takes a size like 256MB, in bytes; undefined when it is not given. @throws {ExportError} `usage` */
export function bytesOf(args: CommandArguments, flag: string, least = 1): number | undefined {
  const text = args.text(flag);
  if (text === undefined) return undefined;
  const [, digits = '', unit = ''] = /^(\d{1,15}(?:\.\d+)?)\s*([KMGT]?B?)$/.exec(text.toUpperCase()) ?? [];
  const bytes = Number(digits === '' ? Number.NaN : digits) * (units[unit] ?? Number.NaN);
  if (bytes >= least) return bytes;
  const from = least === 1 ? '' : `, at least ${byteSize(least)}`;
  throw new ExportError('usage', `--${flag} must be a size such as 256MB or 2GB${from}, not "${shownWord(text)}"`);
}

/** The dialect that --dialect or the environment names, for commands without a job; undefined when neither does. @throws {ExportError} `usage` */
export function givenDialect(args: CommandLine): ServiceDialect | undefined {
  const given = args.text('dialect') ?? args.terminal.env[environmentName('dialect')] ?? '';
  return given === '' ? undefined : dialectOf(readNamedDialect(given, args.terminal.cwd()));
}

/**
 * The same words and flags for another command, as a line that can be typed.
 * @param flags that the other command has; all others are left out
 */
export function sameLine(command: string, args: CommandArguments, flags: readonly CommandFlag[]): string {
  const given = flags.flatMap(({ name }) => {
    const value = args.value(name);
    if (value === undefined) return [];
    if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
    // Alone, a value with a dash would be read as a flag.
    return args
      .texts(name)
      .flatMap((text) => (text.startsWith('-') && text !== '-' ? [`--${name}=${text}`] : [`--${name}`, text]));
  });
  return commandLine(command, ...args.words, ...given);
}

/** The endpoint of a job's bucket, where commands that take no job do not find it in the environment. */
export function endpointToName({ output }: Job, { env }: Pick<Terminal, 'env'>): string | undefined {
  return env[environmentName('out-endpoint')] === output.endpoint ? undefined : output.endpoint;
}
