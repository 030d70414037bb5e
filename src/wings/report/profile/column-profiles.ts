import type { Column, Table } from '../../../core/records/table.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import type { DuckdbSession, Value } from './duckdb-session.ts';
import type { Bin, ColumnProfile, TableProfile, ValueCount } from './profile-source.ts';

const mostBins = 24;
const topValues = 8;
/** Longest value that is kept, in characters. */
const mostText = 160;
/** Above this share of distinct values the most frequent ones say nothing. */
const distinctShare = 0.9;

/** Profiles each column of a table: one query for all of them, then one or two a column. */
export async function profileTable(session: DuckdbSession, table: Table): Promise<TableProfile> {
  const name = doubleQuoted(table.name);
  const sums = table.columns.map(sumsOf);
  const [row = []] = await session.query(`SELECT count(*), ${sums.flat().join(', ')} FROM ${name}`);
  const columns: ColumnProfile[] = [];
  let place = 1;
  for (const [index, column] of table.columns.entries()) {
    const width = sums[index]?.length ?? 0;
    columns.push(await profileColumn({ session, table: name, column }, row.slice(place, place + width)));
    place += width;
  }
  return { name: table.name, rows: Number(row[0] ?? 0), columns };
}

interface Profiling {
  readonly session: DuckdbSession;
  readonly table: string;
  readonly column: Column;
}

/** The aggregates of a column: filled, empty texts, smallest, largest, longest. */
function sumsOf(column: Column): string[] {
  const name = doubleQuoted(column.name);
  const filled = `count(${name})`;
  if (isText(column)) {
    const text = textOf(column);
    const cut = `left(${text}, ${mostText})`;
    const range = column.type === 'json' ? ['NULL', 'NULL'] : [`min(${cut})`, `max(${cut})`];
    return [filled, `count(*) FILTER (${text} = '')`, ...range, `max(length(${text}))`];
  }
  const value = column.type === 'timestamp' ? `epoch_us(${name})` : name;
  return [filled, '0', `CAST(min(${value}) AS VARCHAR)`, `CAST(max(${value}) AS VARCHAR)`, 'NULL'];
}

async function profileColumn(profiling: Profiling, sums: readonly Value[]): Promise<ColumnProfile> {
  const { column } = profiling;
  const [filled, emptyText, min, max, longest] = sums;
  const facts = {
    name: column.name,
    type: column.type,
    filled: Number(filled),
    emptyText: Number(emptyText ?? 0),
    min: textOrNull(min),
    max: textOrNull(max),
    longest: longest === null || longest === undefined ? null : Number(longest),
  };
  if (facts.filled === 0) return { ...facts, distinct: 0, top: [], bins: [], isLogarithmic: false };
  const distinct = await distinctOf(profiling);
  if (isNumber(column)) {
    const [from, to] = [Number(facts.min), Number(facts.max)];
    const isLogarithmic = to > 1e6 || (from > 0 && to / from > 1e4);
    return { ...facts, distinct, top: [], bins: await binsOf(profiling, from, to, isLogarithmic), isLogarithmic };
  }
  const top = distinct < facts.filled * distinctShare ? await topOf(profiling) : [];
  return { ...facts, distinct, top, bins: [], isLogarithmic: false };
}

async function distinctOf({ session, table, column }: Profiling): Promise<number> {
  const [row = []] = await session.query(`SELECT count(DISTINCT ${textOf(column)}) FROM ${table}`);
  return Number(row[0]);
}

async function topOf({ session, table, column }: Profiling): Promise<ValueCount[]> {
  const rows = await session.query(
    `SELECT left(CAST(v AS VARCHAR), ${mostText}), n FROM (
      SELECT ${textOf(column)} AS v, count(*) AS n FROM ${table} WHERE ${doubleQuoted(column.name)} IS NOT NULL GROUP BY v
    ) ORDER BY n DESC, v LIMIT ${topValues}`,
  );
  return rows.map(([value, count]) => ({ value: String(value), count: Number(count) }));
}

/** Classes of equal width, or of equal ratio; whole numbers of a small range have a class each. */
async function binsOf(profiling: Profiling, from: number, to: number, isLogarithmic: boolean): Promise<Bin[]> {
  const { session, table, column } = profiling;
  const isSmall = column.type !== 'double' && to - from < mostBins;
  const bins = from === to ? 1 : isSmall ? to - from + 1 : mostBins;
  const number = `CAST(${doubleQuoted(column.name)} AS DOUBLE)`;
  const above = `(${number} - ${from})`;
  const place = isLogarithmic ? `ln(1 + ${above}) / ${Math.log1p(to - from)}` : `${above} / ${to - from}`;
  const bin = from === to ? '0' : isSmall ? above : `least(greatest(floor(${place} * ${bins}), 0), ${bins - 1})`;
  const rows = await session.query(
    `SELECT CAST(${bin} AS INTEGER) AS bin, count(*) FROM ${table}
     WHERE ${doubleQuoted(column.name)} IS NOT NULL GROUP BY bin ORDER BY bin`,
  );
  const counts = new Map(rows.map(([key, count]) => [Number(key), Number(count)]));
  const edge = (at: number): number => {
    if (at === 0 || from === to) return from;
    if (isSmall) return from + at;
    if (at === bins) return to;
    return isLogarithmic ? from + Math.expm1((Math.log1p(to - from) * at) / bins) : from + ((to - from) * at) / bins;
  };
  return Array.from({ length: bins }, (_, at) => ({
    from: edge(at),
    to: isSmall || from === to ? edge(at) : edge(at + 1),
    count: counts.get(at) ?? 0,
  }));
}

function isText({ type }: Column): boolean {
  return type === 'string' || type === 'json';
}

function isNumber({ type }: Column): boolean {
  return type === 'int64' || type === 'double' || type === 'decimal';
}

/** JSON is read as a type of its own from JSONL, and as text from other formats. */
function textOf(column: Column): string {
  const name = doubleQuoted(column.name);
  return column.type === 'json' ? `CAST(${name} AS VARCHAR)` : name;
}

function textOrNull(value: Value | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
