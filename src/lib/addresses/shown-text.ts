import { relative } from 'node:path';
import { isBucketAddress } from './address-kinds.ts';
import { printable, printableLines } from '../format-text.ts';

/**
 * A path as a person would write it: from the working directory or absolute, whichever is shorter. A name that begins with
 * a dash gets `./`, because a command would read it as a flag. The address of a bucket stays as it is. Control characters are made visible.
 */
export function shownPath(path: string, workingFolder: string): string {
  const short = isBucketAddress(path) ? path : relative(workingFolder, path) || '.';
  if (short.length > path.length) return printable(path);
  return printable(short.startsWith('-') ? `./${short}` : short);
}

/** A message with the paths in it as a person would write them from the working directory. Commands in it can still be typed. */
export function withShownPaths(message: string, workingFolder: string): string {
  if (workingFolder === '/') return message;
  const [first = '', ...others] = message.split(`${workingFolder}/`);
  return others.reduce((before, after) => {
    const isPath = /(^|[\s'"(=,:])$/.test(before) && /^[^\s/]/.test(after);
    if (!isPath) return `${before}${workingFolder}/${after}`;
    return `${before}${after.startsWith('-') ? './' : ''}${after}`;
  }, first);
}

/** A command of this program that can be typed: `asset-export verify 'my export' --quick`. */
export function commandLine(...words: readonly string[]): string {
  return ['asset-export', ...words].map(shellWord).join(' ');
}

/** A text as one word of a shell, quoted only where it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** An address in a text, without what ends a word or a sentence. */
const addresses = /\b[a-z][a-z\d+.-]*:\/\/[^\s'"<>`]*[^\s'"<>`.,;:)]/gi;

/** How addresses are written in examples. */
const examples = ['user', 'user:password'];

/** A text without what opens doors: names and passwords, keys in paths and values of queries of each address in it. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(addresses, withoutKeys);
}

/** A message as it may be shown: words that were typed in a wrong place, names of files and texts of others get into it. */
export function safeText(text: string): string {
  return printableLines(withoutSecrets(text));
}

/** The same of one word that may be an address, also one without its scheme. Control characters are made visible. */
export function shownWord(word: string): string {
  const scheme = /^[a-z][a-z\d+.-]*:\/{1,2}/i.exec(word)?.[0] ?? '';
  const text = withoutKeys(withoutNames(withoutSecrets(word), scheme));
  return printable(text.replace(/^([\w-]+\.[\w.-]+(?::\d+)?\/v3\/)[^/?#]+/, '$1***'));
}

/** An address without its keys. Another text stays as it is. */
function withoutKeys(address: string): string {
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(address)?.[0] ?? '';
  if (scheme === '') return address;
  const [, place = '', query = ''] = /^([^?#]*)(.*)$/s.exec(withoutNames(address, scheme)) ?? [];
  return `${isWeb(scheme) ? withoutKeysOfPath(place) : place}${withoutValues(query)}`;
}

/** Name and password end at the last @: a password may hold any sign. */
function withoutNames(address: string, scheme: string): string {
  const rest = address.slice(scheme.length);
  const at = (
    isBucketAddress(scheme.toLowerCase()) || /^file:/i.test(scheme) ? rest.replace(/\/.*/s, '') : rest
  ).lastIndexOf('@');
  const names = rest.slice(0, Math.max(0, at));
  const isSecret = names !== '' && !examples.includes(names) && (isWeb(scheme) || names.includes(':'));
  return isSecret ? `${scheme}***${rest.slice(at)}` : address;
}

function isWeb(scheme: string): boolean {
  // What stands before it may be the name of a field.
  return /(^|[.+-])https?:/i.test(scheme);
}

/** Keys stand behind `/v3/`, and in the addresses of webhooks as long words. */
function withoutKeysOfPath(path: string): string {
  return path.replaceAll(/(\/v3\/)[^/]+/g, '$1***').replaceAll(/\/[\w~-]{16,}(?=\/|$)/g, '/***');
}

/** Values of a query; the `?` of a pattern has none. */
function withoutValues(query: string): string {
  return query.replaceAll(/([?&#;][\w.-]+=)[^&#;]*/g, '$1***');
}
