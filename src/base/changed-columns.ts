import { assetsTable } from '../records/columns.ts';
import { parseJson, stringifyJson } from '../records/json/json.ts';
import { isJsonObject, type Json, type JsonObject } from '../records/json/json-value.ts';
import { type RowBlock, textOfCell } from '../records/row-block.ts';

const extraAt = assetsTable.columns.findIndex(({ name }) => name === 'extra');

/** What counts as no change: columns, and members of `extra` by their path. */
export interface IgnoredChanges {
  readonly columns: ReadonlySet<number>;
  readonly inExtra: readonly (readonly string[])[];
}

/** @param names columns of `assets`, and paths that begin with `extra.` */
export function ignoredChanges(names: readonly string[]): IgnoredChanges {
  const paths = names.filter((name) => name.startsWith('extra.'));
  const columns = names.map((name) => assetsTable.columns.findIndex((column) => column.name === name));
  return { columns: new Set(columns), inExtra: paths.map((path) => path.split('.').slice(1)) };
}

/** The places of the columns of `assets` in which two rows differ. The rows are whole ones. */
export function changedColumns(
  now: { readonly block: RowBlock; readonly row: number },
  before: { readonly block: RowBlock; readonly row: number },
  { columns, inExtra }: IgnoredChanges,
): number[] {
  const { width } = now.block;
  const changed: number[] = [];
  for (let place = 0; place < width; place += 1) {
    const cell = now.row * width + place;
    const old = before.row * width + place;
    if (columns.has(place) || isSame(now.block, cell, { block: before.block, cell: old })) continue;
    if (place === extraAt && isSameExtra(textOfCell(now.block, cell), textOfCell(before.block, old), inExtra)) continue;
    changed.push(place);
  }
  return changed;
}

function isSame(block: RowBlock, cell: number, other: { readonly block: RowBlock; readonly cell: number }): boolean {
  const length = block.length[cell] ?? -1;
  if (length !== other.block.length[other.cell]) return false;
  if (length <= 0) return true;
  const own = bytesOf(block, cell);
  const its = bytesOf(other.block, other.cell);
  return own.compare(its) === 0;
}

function bytesOf({ source, made, from, length }: RowBlock, cell: number): Buffer {
  const at = from[cell] ?? 0;
  const bytes = at < 0 ? made : source;
  return Buffer.from(bytes.buffer, bytes.byteOffset + (at < 0 ? ~at : at), length[cell] ?? 0);
}

function isSameExtra(now: string | null, before: string | null, paths: IgnoredChanges['inExtra']): boolean {
  if (paths.length === 0) return false;
  return withoutPaths(now, paths) === withoutPaths(before, paths);
}

function withoutPaths(text: string | null, paths: IgnoredChanges['inExtra']): string {
  const root = text === null ? null : parseJson(text);
  if (!isJsonObject(root)) return text ?? '';
  for (const path of paths) cut(root, path);
  const left = Object.keys(root).length === 0 ? '' : stringifyJson(root);
  return left;
}

/** Removes a member, and the objects around it that hold nothing else. */
function cut(object: JsonObject, [name = '', ...rest]: readonly string[]): void {
  if (!Object.hasOwn(object, name)) return;
  if (rest.length > 0) {
    const member: Json | undefined = object[name];
    if (!isJsonObject(member)) return;
    cut(member, rest);
    if (Object.keys(member).length > 0) return;
  }
  Reflect.deleteProperty(object, name);
}
