import { plural, printable } from '../../../lib/format-text.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { shellWord } from '../../../lib/addresses/shown-text.ts';

/** Names of the column with the id, the likelier first. Letter case, blanks, `_` and `-` make no difference. */
export const idNames = [
  'id',
  'mint',
  'mint_address',
  'token_mint',
  'mint_account',
  'asset_id',
  'token_address',
] as const;

/** What the beginning of a table shows: CSV, TSV, Parquet, or objects of JSON. */
export interface TableStart {
  /** Name of the input. */
  readonly input: string;
  /** Columns or members. */
  readonly names: readonly string[];
  /** False when the file has no names: `names` are their places. */
  readonly named: boolean;
  /** The column that the user named. */
  readonly asked: string | undefined;
  /** Whether the column has an id in the first 1,000 rows. */
  readonly holdsIds: (column: number) => boolean | Promise<boolean>;
}

/**
 * The column asked for; else those of `idNames`; else the only one that has ids. A column without an id in its first rows
 * is passed over.
 * @throws {ExportError} `input` when the column asked for is not there, or several have ids and none of `idNames` does
 */
export async function chooseColumns(table: TableStart): Promise<{
  /** Places of the columns with the id, the likelier first; empty when no column has an id. */
  readonly columns: readonly number[];
  /** True when the user named none and the name is not one of `idNames`. */
  readonly guessed: boolean;
}> {
  const { names, asked, holdsIds } = table;
  if (asked !== undefined) {
    const place = placeOf(names, asked);
    if (place === undefined) throw missingColumn(table.input, asked, names);
    return { columns: (await holdsIds(place)) ? [place] : [], guessed: false };
  }
  const known = await withIds(namedPlaces(names), holdsIds);
  if (known.length > 0) return { columns: known, guessed: false };
  const others = await withIds([...names.keys()], holdsIds);
  if (others.length > 1) throw severalColumns(table, others);
  return { columns: others, guessed: true };
}

async function withIds(places: readonly number[], holdsIds: TableStart['holdsIds']): Promise<number[]> {
  const found: number[] = [];
  for (const place of places) if (await holdsIds(place)) found.push(place);
  return found;
}

/** Places of the columns of `idNames`, the likelier first. */
export function namedPlaces(names: readonly string[]): number[] {
  const plain = names.map((name) => plainName(name));
  return idNames.flatMap((name) => {
    const alike = [...names.keys()].filter((place) => plain[place] === plainName(name));
    return [...alike.filter((place) => names[place] === name), ...alike.filter((place) => names[place] !== name)];
  });
}

/** The rank of a name among `idNames`, from 0; -1 of any other. */
export function rankOfName(name: string): number {
  return idNames.findIndex((each) => plainName(each) === plainName(name));
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, '');
}

/** Letter case matters only where two names differ by nothing else. */
export function placeOf(names: readonly string[], asked: string): number | undefined {
  const exact = names.indexOf(asked);
  const place = exact >= 0 ? exact : names.findIndex((name) => name.toLowerCase() === asked.toLowerCase());
  return place < 0 ? undefined : place;
}

function missingColumn(input: string, column: string, names: readonly string[]): ExportError {
  return new ExportError('input', `${input} has no column "${printable(column)}"; it has: ${namesText(names)}`, {
    todo: 'Name one of these with --id-column or ids.column.',
    facts: { column },
  });
}

function severalColumns({ input, names, named }: TableStart, places: readonly number[]): ExportError {
  const found = places.map((place) => names[place] ?? '');
  const which = found.length === 2 ? found.map((name) => `"${printable(name)}"`).join(' and ') : namesText(found);
  const message = `${input} has ${plural(found.length, 'column')} of ids: ${which}`;
  return new ExportError('input', message, {
    todo: named
      ? `Name the one with the asset ids: --id-column ${shellWord(found[0] ?? '')} or --id-column ${shellWord(found[1] ?? '')} (ids.column in a job).`
      : 'Add a first line with names of the columns, and name the one with the asset ids with --id-column.',
    why: named ? { kind: 'columns', columns: found.join(', ') } : undefined,
  });
}

/** Names of columns, as many and as long as a message should have. */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, 30).map((name) => printable(name.length > 60 ? `${name.slice(0, 60)}…` : name));
  return `${shown.join(', ')}${names.length > shown.length ? `, and ${names.length - shown.length} more` : ''}`;
}
