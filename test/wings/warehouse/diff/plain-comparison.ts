import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRows } from '../../../../src/exports/finished-export.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';

export const ignored = ['extra.token_info.price_info', 'extra.last_indexed_slot'];

const times = ['fetched_at', 'exported_at'];

/** When an export began, in microseconds. */
async function startUs(folder: string): Promise<number> {
  const manifest = await readFile(join(folder, 'manifest.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly startedAtMs: number }).startedAtMs * 1000;
}

export type Values = Readonly<Record<string, unknown>>;

/** The rows of an export's table out of its JSONL, in order. */
export async function jsonLines(folder: string, table: string): Promise<Values[]> {
  const files = (await readdir(join(folder, 'jsonl', table))).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, 'jsonl', table, file), 'utf8')));
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Values),
  );
}

/** `extra` as it counts for a comparison. */
function countedExtra(value: unknown): unknown {
  const extra = structuredClone(value) as { token_info?: { price_info?: unknown }; last_indexed_slot?: unknown } | null;
  if (extra === null) return null;
  delete extra.last_indexed_slot;
  delete extra.token_info?.price_info;
  if (extra.token_info !== undefined && Object.keys(extra.token_info).length === 0) delete extra.token_info;
  return Object.keys(extra).length === 0 ? null : extra;
}

function differs(name: string, before: unknown, after: unknown): boolean {
  if (times.includes(name)) return false;
  const [a, b] = name === 'extra' ? [countedExtra(before), countedExtra(after)] : [before, after];
  return JSON.stringify(a) !== JSON.stringify(b);
}

/** What `changes` has to hold, by a plain comparison of the JSONL of both. */
export async function comparedByHand(from: string, to: string): Promise<Values[]> {
  const old = new Map((await jsonLines(from, 'assets')).map((row) => [row['id'], row]));
  const now = await jsonLines(to, 'assets');
  const fates = await unexportedText(to);
  const changed_at = await startUs(to);
  const kept = now.flatMap((row): Values[] => {
    const { id, ...rest } = row;
    const before = old.get(id);
    if (before === undefined)
      return [{ op: 'insert', reason: null, changed_at, id, changed: null, before: null, ...rest }];
    const changed = Object.keys(row).filter((name) => differs(name, before[name], row[name]));
    if (changed.length === 0) return [];
    const values = Object.fromEntries(changed.map((name) => [name, before[name]]));
    return [{ op: 'update', reason: null, changed_at, id, changed, before: values, ...rest }];
  });
  const ids = new Set(now.map(({ id }) => id));
  const gone = [...old.values()].filter(({ id }) => !ids.has(id));
  const deletes = gone.map((row): Values => {
    const { id, ...rest } = row;
    const nothing = Object.fromEntries(Object.keys(rest).map((name) => [name, null]));
    const reason = fates.includes(`${String(id)},missing`) ? 'missing' : 'unlisted';
    return { op: 'delete', reason, changed_at, id, changed: null, before: withoutTimes(row), ...nothing };
  });
  return [...kept, ...deletes].map(timesAsNumbers);
}

/** The rows of `changes` as values of JSON, as the package's own reader gives them. */
export async function changesOf(folder: string): Promise<Values[]> {
  const jsonColumns = await jsonColumnsOf(folder);
  const rows: Values[] = [];
  for await (const row of readRows({ files: localDisk, folder, table: 'changes' })) {
    const values = Object.entries(row).map(([name, cell]) => [
      name,
      typeof cell === 'string' && jsonColumns.has(name)
        ? (JSON.parse(cell) as unknown)
        : typeof cell === 'bigint'
          ? Number(cell)
          : cell,
    ]);
    rows.push(Object.fromEntries(values) as Values);
  }
  return rows;
}

async function jsonColumnsOf(folder: string): Promise<Set<string>> {
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    tables: Record<string, { columns: { name: string; type: string }[] }>;
  };
  return new Set(manifest.tables['changes']?.columns.filter(({ type }) => type === 'json').map(({ name }) => name));
}

/** The ids that were not exported, with their fates. */
async function unexportedText(folder: string): Promise<string> {
  const files = await readdir(join(folder, 'unexported'));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, 'unexported', file), 'utf8')));
  return texts.join('');
}

function withoutTimes(row: Values): Values {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !times.includes(name)));
}

/** A time is whole microseconds to the reader, and text in JSONL. */
function timesAsNumbers(row: Values): Values {
  const members = Object.entries(row).map(([name, value]) =>
    times.includes(name) && typeof value === 'string' ? [name, Date.parse(value) * 1000] : [name, value],
  );
  return Object.fromEntries(members) as Values;
}
