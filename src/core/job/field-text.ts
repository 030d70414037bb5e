import type { JobField } from './job-fields.ts';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * The value of a field from text, as flags and environment variables give it. Text that does not fit is left as it is,
 * so that the schema says what is wrong with it.
 * @param folder where the relative paths of flags and variables start
 */
export function fieldText(field: JobField, value: unknown, folder: string): unknown {
  if (field.kind === 'pairs') return pairsOf(value);
  if (!field.list) return scalarOf(field, Array.isArray(value) ? (value as unknown[]).at(-1) : value);
  const itemsOf = (text: string): string[] => {
    if (field.path === 'ids.from') return listedFiles(text, folder);
    // An address may hold a comma.
    return field.path === 'notify' ? text.split(/,(?=https?:)/i) : listed(text);
  };
  const items = (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((item) =>
    typeof item === 'string' ? itemsOf(item) : [item],
  );
  return items.map((item) => scalarOf(field, item));
}

function scalarOf(field: JobField, value: unknown): unknown {
  if (typeof value !== 'string') return field.kind === 'string' && typeof value === 'number' ? String(value) : value;
  const text = value.trim();
  if (field.kind === 'number') return /^[+-]?(\d[\d_]*)(\.\d+)?$/.test(text) ? Number(text.replaceAll('_', '')) : value;
  if (field.kind === 'boolean')
    return /^(true|1|yes)$/i.test(text) ? true : /^(false|0|no)$/i.test(text) ? false : value;
  return value;
}

/** `csv=gzip,jsonl=zstd`, repeated or not, as an object. */
function pairsOf(value: unknown): unknown {
  const items = (Array.isArray(value) ? (value as unknown[]) : [value]).map(String).flatMap((text) => text.split(','));
  return Object.fromEntries(
    items.map((item) => {
      const equals = item.indexOf('=');
      return equals < 0 ? [item.trim(), ''] : [item.slice(0, equals).trim(), item.slice(equals + 1).trim()];
    }),
  );
}

/** The values that one flag names with commas. */
export function listed(text: string): string[] {
  return trimmed(text.split(','));
}

/**
 * The files that one flag names with commas, unless a file is called so. Relative paths start at `folder`; commas within
 * the braces of a pattern are its own.
 */
export function listedFiles(text: string, folder: string): string[] {
  if (text !== '' && existsSync(resolve(folder, text))) return [text];
  const items = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth += 1;
    if (character === '}') depth = Math.max(0, depth - 1);
    if (character === ',' && depth === 0) items.push('');
    else items.push(`${items.pop() ?? ''}${character}`);
  }
  return trimmed(items);
}

function trimmed(items: readonly string[]): string[] {
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
