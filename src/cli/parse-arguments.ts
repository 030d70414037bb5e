import yargs from 'yargs';
import { ExportError } from '../lib/export-error.ts';
import type { Command, CommandArguments, CommandFlag } from './command.ts';
import { nearestName } from '../lib/nearest-name.ts';

/** Reads what stands behind a command's name. @throws {ExportError} `usage`, with the flag that was probably meant */
export async function parseArguments(
  name: string,
  command: Command,
  argv: readonly string[],
): Promise<CommandArguments> {
  const flags = command.groups.flatMap((group) => group.flags);
  let parser = yargs([...argv])
    .scriptName('asset-export')
    // Every value stays the text it was: ids may be all digits, and the job's schema reads numbers.
    .parserConfiguration({ 'camel-case-expansion': false, 'parse-numbers': false, 'parse-positional-numbers': false })
    // Its messages are read below, in English.
    .detectLocale(false)
    .help(false)
    .version(false)
    .exitProcess(false)
    .strictOptions()
    .fail((message, error) => {
      if (error instanceof Error && error.name !== 'YError') throw error;
      throw wrongFlag(name, message || error.message, flags);
    });
  for (const flag of flags) {
    parser = parser.option(
      flag.name,
      flag.value === undefined ? { type: 'boolean' } : { type: 'string', requiresArg: true },
    );
  }
  const parsed = (await parser.parseAsync()) as Readonly<Record<string, unknown>>;
  const words = (parsed['_'] as readonly unknown[]).map(String);
  requireWords(name, command, words);
  const texts = (flag: string): string[] => {
    const value = parsed[flag];
    return value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(String);
  };
  return {
    words,
    text: (flag) => texts(flag).at(-1),
    texts,
    isOn: (flag) => parsed[flag] === true,
    value: (flag) => parsed[flag],
  };
}

function requireWords(name: string, { words }: Command, given: readonly string[]): void {
  const todo = `See asset-export ${name} --help.`;
  const extra = given[words?.most ?? 0];
  if (extra !== undefined) throw new ExportError('usage', `there is an argument too many: ${extra}`, { todo });
  if (words !== undefined && given.length < words.least) {
    throw new ExportError('usage', `${name} needs ${words.name}: ${words.about}`, { todo });
  }
}

/** yargs' words, in ours. */
function wrongFlag(name: string, message: string, flags: readonly CommandFlag[]): ExportError {
  const todo = `asset-export ${name} --help lists every flag.`;
  const unknown = /^Unknown arguments?: ([^,]+)/.exec(message)?.[1];
  if (unknown !== undefined) {
    const names = flags.map((flag) => flag.name);
    const guess = nearestName(unknown, names);
    const dash = unknown.length === 1 ? '-' : '--';
    return new ExportError(
      'usage',
      `${name} has no flag ${dash}${unknown}${guess === undefined ? '' : `; did you mean --${guess}?`}`,
      { todo },
    );
  }
  const bare = /^Not enough arguments following: (.+)$/.exec(message)?.[1];
  const flag = flags.find((each) => each.name === bare);
  if (flag !== undefined) {
    return new ExportError('usage', `--${flag.name} needs a value: --${flag.name} ${flag.value ?? ''}`, { todo });
  }
  return new ExportError('usage', message.split('\n')[0] ?? message, { todo });
}
