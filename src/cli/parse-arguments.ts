import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Parser from 'yargs-parser';
import { ExportError } from '../lib/export-error.ts';
import type { Command, CommandArguments, CommandFlag, WordKind } from './command.ts';
import { nearestName } from '../lib/format-text.ts';
import { commandLine, shownWord } from '../lib/addresses/shown-text.ts';
import { otherFlags } from './command-named.ts';
import { cleanId, wordsOf } from '../core/ids/entries.ts';
import { classifyAddress } from '../lib/addresses/address.ts';
import { isAssetId } from '../lib/ids/asset-id.ts';
import { exportPaths } from '../places/export/export-folder.ts';

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

type Found = 'list' | 'job' | 'export' | 'nights' | 'empty';

const shown: Readonly<Record<Found, string>> = {
  list: 'a list of ids',
  job: 'a job file',
  export: 'an export',
  nights: 'a folder of exports',
  empty: 'an empty folder',
};

/** What a command takes; another thing that it finds is named. */
const taken: Readonly<Record<WordKind, { readonly is: string; readonly takes: readonly Found[] }>> = {
  job: { is: 'a job file', takes: ['job', 'empty'] },
  export: { is: 'an export', takes: ['export'] },
  nights: { is: 'a folder of exports', takes: ['export', 'nights', 'empty'] },
  either: { is: 'an export', takes: ['export', 'nights'] },
  standing: { is: 'an export', takes: ['export', 'nights', 'list'] },
  id: { is: 'an id', takes: [] },
};

/** The flag that takes what a word may not be. */
const flagFor: Readonly<Partial<Record<Found, string>>> = { list: 'ids', job: 'job', export: 'of' };

/** Looks once at what the words of a command line name. @throws {ExportError} `usage` for what the command does not take */
export function requireKinds(name: string, { words, groups }: Command, given: CommandArguments, cwd: string): void {
  if (words?.is === undefined) return;
  const { is, takes } = taken[words.is];
  for (const word of given.words) {
    const path = localPath(word, cwd);
    const found = path === undefined ? undefined : foundAt(path);
    if (path === undefined || found === undefined || takes.includes(found)) continue;
    const flag = words.is === 'export' ? undefined : flagFor[found];
    const hasFlag = groups.some((group) => group.flags.some((each) => each.name === flag));
    throw new ExportError('usage', `${shownWord(word)} is ${shown[found]}, not ${is}`, {
      todo: hasFlag ? `Write --${flag} ${shownWord(word)}` : todoFor(found, words.is, { name, word, path }),
    });
  }
}

function todoFor(
  found: Found,
  wanted: WordKind,
  { name, word, path }: { readonly name: string; readonly word: string; readonly path: string },
): string {
  if (wanted === 'job') return `Name the job file. The state of the export: ${commandLine('status', word)}`;
  if (wanted === 'id') return 'Name ids, or a list of ids with --ids FILE.';
  if (found === 'nights') return `Name one of them: ${commandLine(name, join(word, exportsIn(path)[0] ?? ''))}`;
  return 'Name the output folder of an export (--out, output.dir).';
}

/**
 * `--ids` takes several files, because a shell makes them of `--ids *.txt`: each word behind it that is a list gets a flag of its own.
 * A word that is a job file, or nothing, stays one.
 */
export function withEachList(argv: readonly string[], { groups }: Command, cwd: string): string[] {
  if (!groups.some((group) => group.flags.some(({ name }) => name === 'ids'))) return [...argv];
  const isList = (word: string): boolean => {
    if (/[*?]|^\w+:\/\//.test(word)) return true;
    const path = localPath(word, cwd);
    return path !== undefined && foundAt(path) === 'list';
  };
  const all: string[] = [];
  let isBehind = false;
  const end = argv.indexOf('--');
  for (const [index, word] of argv.entries()) {
    const isValue = argv[index - 1] === '--ids';
    const isEnded = end >= 0 && index >= end;
    if (isBehind && !isEnded && !word.startsWith('-') && !isValue && isList(word)) all.push('--ids');
    else isBehind = !isEnded && (isValue || word.startsWith('--ids='));
    all.push(word);
  }
  return all;
}

function localPath(word: string, cwd: string): string | undefined {
  const address = classifyAddress(word, 'local');
  return address.kind === 'path' ? resolve(cwd, address.text) : undefined;
}

/** What lies at a path; undefined for nothing, and for what is none of these. */
function foundAt(path: string): Found | undefined {
  try {
    const stats = statSync(path);
    if (stats.isFile()) return fileKind(path);
    if (!stats.isDirectory()) return undefined;
    const names = readdirSync(path);
    if (names.length === 0) return 'empty';
    if (isExport(names)) return 'export';
    return exportsIn(path).length > 0 ? 'nights' : undefined;
  } catch {
    // What reads it says why it cannot.
    return undefined;
  }
}

function isExport(names: readonly string[]): boolean {
  return names.includes(exportPaths.manifest) || names.includes(exportPaths.run);
}

function exportsIn(folder: string): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).filter((name) => isExport(readdirSync(join(folder, name))));
}

const bytesLookedAt = 1 << 14;

function fileKind(path: string): Found | undefined {
  const head = headOf(path);
  if (/\.ya?ml$/i.test(path) || /^[\s{]*"?(ids|service|output)"?\s*:/m.test(head)) return 'job';
  if (/\.(txt|csv|tsv|jsonl|ndjson|parquet|pq|gz|zst)$/i.test(path)) return 'list';
  const holdsId = head.split(/[\r\n]+/, 20).some((line) => wordsOf(cleanId(line)).some((word) => isAssetId(word)));
  return holdsId ? 'list' : undefined;
}

function headOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(bytesLookedAt);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
