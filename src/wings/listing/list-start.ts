import { z } from 'zod';
import { listFilters } from '../../core/client/dialects.ts';
import { ExportError } from '../../lib/export-error.ts';
import { checkedJson, valueOfCheckedJson } from '../../lib/hash/sha256.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import type { Reads } from '../../places/files/disk.ts';

/** What a list is a list of: a proof rests on one source, so none of it may change. */
const settingsSchema = z.object({
  filter: z.enum(listFilters),
  address: z.string(),
  onlyVerified: z.boolean(),
  flags: z.record(z.string(), z.boolean()),
  limit: z.number(),
  /** Pages go by numbers, which mean other members with another limit. */
  isNumbered: z.boolean().default(false),
  dialect: z.string(),
  origin: z.string(),
  records: z.boolean(),
});
export type ListSettings = z.infer<typeof settingsSchema>;

const version = 1;

const startSchema = z.object({ version: z.number(), startedAtMs: z.number(), settings: settingsSchema });
export type ListStart = Pick<z.infer<typeof startSchema>, 'startedAtMs' | 'settings'>;

const startFile = 'start.json';

export function startPath(folder: string): string {
  return pathIn(folder, startFile);
}

/** How the list in a folder was begun; undefined where there is none. @throws {ExportError} `damaged` */
export async function readListStart(files: Reads, folder: string): Promise<ListStart | undefined> {
  const path = startPath(folder);
  const bytes = await files.readAll(path);
  if (bytes === undefined) return undefined;
  const parsed = startSchema.safeParse(valueOfCheckedJson(bytes));
  if (!parsed.success) throw damagedList(path, 'it is not the start of a list');
  if (parsed.data.version > version) throw damagedList(path, 'a newer version wrote it');
  return parsed.data;
}

export function listStartBytes(start: ListStart): Buffer {
  return checkedJson({ version, ...start });
}

/** What the settings of a list are called, and what they are. */
function inWords({ filter, address, flags, ...settings }: ListSettings): Readonly<Record<string, string>> {
  const isOn = (value = false): string => (value ? 'on' : 'off');
  return {
    'the list': `by ${filter}`,
    'its address': address,
    '--only-verified': isOn(settings.onlyVerified),
    '--unverified': isOn(flags['showUnverifiedCollections']),
    '--show-fungible': isOn(flags['showFungible']),
    '--show-collection-metadata': isOn(flags['showCollectionMetadata']),
    ...(settings.isNumbered ? { '--limit': String(settings.limit) } : {}),
    '--dialect': settings.dialect,
    'the service': settings.origin,
    '--records': isOn(settings.records),
  };
}

/** What is different between two lists: its name, and what it was and is; undefined where they are the same. */
export function changedBetween(
  before: ListSettings,
  now: ListSettings,
): { readonly name: string; readonly was: string; readonly is: string } | undefined {
  const is = inWords(now);
  return Object.entries(inWords(before))
    .map(([name, was]) => ({ name, was, is: is[name] ?? was }))
    .find((each) => each.was !== each.is);
}

/** @throws {ExportError} `usage` */
export function requireSameList(folder: string, before: ListSettings, now: ListSettings): void {
  const changed = changedBetween(before, now);
  if (changed === undefined) return;
  const { name, was, is } = changed;
  throw new ExportError('usage', `${name} was ${was} when ${folder} was begun, and is ${is} now`, {
    todo: 'A proof rests on one source. Undo the change to resume, choose another --out, or start over with --fresh.',
    why: { kind: 'changed', changed: name },
  });
}

export function damagedList(path: string, why: string): ExportError {
  return new ExportError('damaged', `${path} is damaged: ${why}`, {
    todo: 'Restore it from a copy, or start over with --fresh.',
  });
}
