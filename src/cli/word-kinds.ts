import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cleanId, wordsOf } from '../core/ids/entries.ts';
import { classifyAddress } from '../lib/addresses/address.ts';
import { commandLine, shownWord } from '../lib/addresses/shown-text.ts';
import { ExportError } from '../lib/export-error.ts';
import { isAssetId } from '../lib/ids/asset-id.ts';
import { exportPaths } from '../places/export/export-folder.ts';
import type { Command, CommandArguments, WordKind } from './command.ts';

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
const flags: Readonly<Partial<Record<Found, string>>> = { list: 'ids', job: 'job', export: 'of' };

/** Looks once at what the words of a command line name. @throws {ExportError} `usage` for what the command does not take */
export function requireKinds(name: string, { words, groups }: Command, given: CommandArguments, cwd: string): void {
  if (words?.is === undefined) return;
  const { is, takes } = taken[words.is];
  for (const word of given.words) {
    const path = localPath(word, cwd);
    const found = path === undefined ? undefined : foundAt(path);
    if (path === undefined || found === undefined || takes.includes(found)) continue;
    const flag = words.is === 'export' ? undefined : flags[found];
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
