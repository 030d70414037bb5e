import { Parser } from 'yargs/helpers';
import { ExportError } from '../lib/export-error.ts';
import type { Command, CommandArguments, CommandFlag } from './command.ts';
import { nearestName } from '../lib/format-text.ts';
import { shownWord } from '../lib/addresses/shown-text.ts';
import { otherFlags } from './command-named.ts';

/** Reads what stands behind a command's name. @throws {ExportError} `usage`, with the flag that was probably meant */
export function parseArguments(name: string, command: Command, argv: readonly string[]): CommandArguments {
  const flags = command.groups.flatMap((group) => group.flags);
  const withValue = flags.filter((flag) => flag.value !== undefined);
  const { argv: values, error } = Parser.detailed(inOwnNumber(argv, flags), {
    // Every value stays the text it was: ids may be all digits, and the job's schema reads numbers.
    configuration: { 'camel-case-expansion': false, 'parse-numbers': false, 'parse-positional-numbers': false },
    boolean: flags.filter((flag) => flag.value === undefined).map((flag) => flag.name),
    string: withValue.map((flag) => flag.name),
    narg: Object.fromEntries(withValue.filter((flag) => !isOptional(flag)).map((flag) => [flag.name, 1])),
  });
  const parsed: Readonly<Record<string, unknown>> = values;
  if (error !== null) throw wrongFlag(name, error.message, flags);
  const unknown = Object.keys(parsed).find((key) => key !== '_' && !flags.some((flag) => flag.name === key));
  if (unknown !== undefined) throw unknownFlag(name, unknown, flags, argv.includes(`--no-${unknown}`) ? 'no-' : '');
  requireSwitches(name, flags, argv);
  const words = (parsed['_'] as readonly unknown[]).map(String);
  const texts = (name: string): string[] => {
    const value = parsed[name];
    const given = value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(String);
    return isOptional(flags.find((flag) => flag.name === name))
      ? given.map((text) => (isNumber(text) ? text : ''))
      : given;
  };
  // What follows a flag whose value is optional, and is no number, is a word: `status --watch out/demo`.
  for (const flag of flags.filter(isOptional)) {
    words.push(
      ...[parsed[flag.name] ?? []]
        .flat()
        .map(String)
        .filter((text) => text !== '' && !isNumber(text)),
    );
  }
  requireWords(name, command, words);
  return {
    words,
    text: (flag) => texts(flag).at(-1),
    texts,
    isOn: (flag) => [parsed[flag]].flat().at(-1) === true,
    value: (flag) => parsed[flag],
  };
}

/** `--formats` is `--format`, and `--table` is `--tables`, where a command has one of them alone. */
function inOwnNumber(argv: readonly string[], flags: readonly CommandFlag[]): string[] {
  const names = new Set(flags.map(({ name }) => name));
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    const [, given = '', value = ''] = /^--([a-z][a-z-]*)(=.*)?$/s.exec(word) ?? [];
    if (given === '' || names.has(given) || Object.hasOwn(otherFlags, given) || (end >= 0 && index > end)) return word;
    const other = given.endsWith('s') ? given.slice(0, -1) : `${given}s`;
    return names.has(other) ? `--${other}${value}` : word;
  });
}

/** A flag without a value is on; `--no-…` and `=false` turn it off. The parser takes any other value for false. */
function requireSwitches(name: string, flags: readonly CommandFlag[], argv: readonly string[]): void {
  for (const word of argv) {
    if (word === '--') return;
    const [, flag, value = ''] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    const isSwitch = flags.some((each) => each.name === flag && each.value === undefined);
    if (!isSwitch || /^(true|false)$/.test(value)) continue;
    throw new ExportError('usage', `--${flag} takes no value: ${shownWord(word)}`, { todo: helpOf(name) });
  }
}

/** A flag whose value may be left out: a number, and the flag's default where it is. */
function isOptional(flag: CommandFlag | undefined): boolean {
  return flag?.value?.startsWith('[') === true;
}

/** `2`, `1.5`, and of a shard `1/4` or `/4`. */
function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$|^\d*\/\d+$/.test(text);
}

function requireWords(name: string, { words }: Command, given: readonly string[]): void {
  const todo = `See asset-export ${name} --help.`;
  const extra = given[words?.most ?? 0];
  if (extra !== undefined) {
    const lists = words?.name === '[job]' ? given.filter((word) => !/\.ya?ml$/i.test(word)).map(shownWord) : [];
    const ids = lists.length === 0 ? '' : `Name lists of ids with --ids: --ids ${lists.join(' ')}. `;
    throw new ExportError('usage', `unexpected argument: ${shownWord(extra)}`, { todo: `${ids}${todo}` });
  }
  if (words !== undefined && given.length < words.least) {
    throw new ExportError('usage', `missing argument: ${name} needs ${words.name}, ${words.about}`, { todo });
  }
}

/** @param no `no-` where a switch was to be turned off */
function unknownFlag(name: string, unknown: string, flags: readonly CommandFlag[], no: string): ExportError {
  const dash = unknown.length === 1 ? '-' : '--';
  const message = `unknown flag for ${name}: ${dash}${no}${shownWord(unknown)}`;
  if (Object.hasOwn(otherFlags, unknown)) return new ExportError('usage', message, { todo: otherFlags[unknown] ?? '' });
  const guess = nearestName(
    unknown,
    flags.map((flag) => flag.name),
  );
  const meant = guess === undefined ? '' : `; did you mean --${no}${guess}?`;
  return new ExportError('usage', `${message}${meant}`, { todo: helpOf(name) });
}

/** The parser's words, in ours. */
function wrongFlag(name: string, message: string, flags: readonly CommandFlag[]): ExportError {
  const bare = /^Not enough arguments following: (.+)$/.exec(message)?.[1];
  const flag = flags.find((each) => each.name === bare);
  const text = flag === undefined ? message : `--${flag.name} needs a value: --${flag.name} ${flag.value ?? ''}`;
  return new ExportError('usage', text, { todo: helpOf(name) });
}

function helpOf(name: string): string {
  return `asset-export ${name} --help lists every flag.`;
}
