import { type Table, wholeName } from '../../../core/records/table.ts';
import { count } from '../../../lib/format-text.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import type {
  AssetCards,
  BooleanShare,
  CollectionCount,
  LabelledCount,
  Ranking,
  Trait,
  ValueCount,
} from './profile-source.ts';

const topInterfaces = 10;
const topCollections = 10;
const topHosts = 8;
const topTraits = 8;
const topTraitValues = 5;
const mostText = 160;

/** Columns whose shares are shown: what they are called, and their names in the column table. */
const booleans = {
  mutable: 'mutable',
  burnt: 'burnt',
  compressed: 'compression_compressed',
  frozen: 'ownership_frozen',
  delegated: 'ownership_delegated',
  'primary sale': 'royalty_primary_sale_happened',
} as const;

/** What the cards are made of: the tables of the export, in the session under their names. */
interface Cards {
  readonly session: DuckdbSession;
  readonly tables: ReadonlyMap<string, Table>;
}

export async function assetCards(session: DuckdbSession, tables: readonly Table[]): Promise<AssetCards> {
  const cards: Cards = { session, tables: new Map(tables.map((table) => [table.name, table])) };
  const [kind, uri] = [columnOf(cards, 'assets', 'interface'), columnOf(cards, 'assets', 'content_json_uri')];
  const links = columnOf(cards, 'assets', 'content_links');
  const shares = await sharesOf(cards);
  return {
    shares,
    ...(kind && { interfaces: await rankingOf(session, 'assets', kind, topInterfaces) }),
    ...present('collections', await collectionsOf(cards)),
    ...(uri && { jsonHosts: await hostsOf(session, uri) }),
    ...(links && { imageHosts: await hostsOf(session, jsonMember(links, '$.image')) }),
    ...present('traits', await traitsOf(cards)),
    ...(await histogramsOf(cards)),
  };
}

function present<K extends keyof AssetCards>(name: K, value: AssetCards[K] | undefined): Pick<Partial<AssetCards>, K> {
  return (value === undefined ? {} : { [name]: value }) as Pick<Partial<AssetCards>, K>;
}

/** The quoted name of a column in the files, by its name in the column table; undefined where the export lacks it. */
function columnOf({ tables }: Cards, table: string, name: string): string | undefined {
  const column = tables.get(table)?.columns.find((each) => wholeName(each) === name);
  return column === undefined ? undefined : doubleQuoted(column.name);
}

/** A member of a JSON text; null where the text is no JSON that DuckDB reads. */
function jsonMember(column: string, path: string): string {
  const text = `CAST(${column} AS VARCHAR)`;
  return `CASE WHEN json_valid(${text}) THEN json_extract_string(${text}, '${path}') END`;
}

/** The most frequent values of an expression of SQL; the empty text counts as none. */
async function rankingOf(session: DuckdbSession, table: string, value: string, most: number): Promise<Ranking> {
  const groups = `SELECT nullif(${value}, '') AS v, count(*) AS n FROM ${doubleQuoted(table)} GROUP BY v`;
  const top = await valueCounts(
    session,
    `SELECT left(v, ${mostText}), n FROM (${groups}) WHERE v IS NOT NULL ORDER BY n DESC, v LIMIT ${most}`,
  );
  const [sums = []] = await session.query(
    `SELECT count(v), coalesce(sum(n) FILTER (v IS NOT NULL), 0)::BIGINT, coalesce(sum(n) FILTER (v IS NULL), 0)::BIGINT FROM (${groups})`,
  );
  return { top, ...othersOf(top, Number(sums[0]), Number(sums[1])), without: Number(sums[2]) };
}

/** What is not listed, of so many values in so many rows. */
function othersOf(top: readonly ValueCount[], values: number, rows: number): Pick<Ranking, 'others'> {
  const listed = top.reduce((total, { count }) => total + count, 0);
  return { others: { value: '', values: values - top.length, count: rows - listed } };
}

async function valueCounts(session: DuckdbSession, sql: string): Promise<ValueCount[]> {
  return (await session.query(sql)).map(([value, count]) => ({ value: String(value), count: Number(count) }));
}

/** By the host of an address; of other schemes by the scheme. */
async function hostsOf(session: DuckdbSession, uri: string): Promise<Ranking> {
  // A data: address may be a megabyte long.
  const start = `lower(left(trim(${uri}), 400))`;
  const value = `CASE
    WHEN regexp_matches(${start}, '^https?://') THEN nullif(regexp_extract(${start}, '^https?://(?:[^/?#@]*@)?([^/?#]*)', 1), '')
    WHEN regexp_matches(${start}, '^[a-z][a-z0-9+.-]*:') THEN regexp_extract(${start}, '^[a-z][a-z0-9+.-]*:')
    WHEN ${start} <> '' THEN 'no address' END`;
  return rankingOf(session, 'assets', value, topHosts);
}

async function sharesOf(cards: Cards): Promise<BooleanShare[]> {
  const found = Object.entries(booleans).flatMap(([name, whole]) => {
    const column = columnOf(cards, 'assets', whole);
    return column === undefined ? [] : [{ name, column }];
  });
  if (found.length === 0) return [];
  const sums = found.flatMap(({ column }) => [
    `count(*) FILTER (${column})`,
    `count(*) FILTER (NOT ${column})`,
    `count(*) FILTER (${column} IS NULL)`,
  ]);
  const [row = []] = await cards.session.query(`SELECT ${sums.join(', ')} FROM "assets"`);
  return found.map(({ name }, index) => ({
    name,
    yes: Number(row[index * 3]),
    no: Number(row[index * 3 + 1]),
    null: Number(row[index * 3 + 2]),
  }));
}

async function collectionsOf(cards: Cards): Promise<Ranking<CollectionCount> | undefined> {
  const column = columnOf(cards, 'assets', 'collection');
  if (column === undefined) return undefined;
  const ranking = await rankingOf(cards.session, 'assets', column, topCollections);
  const names = await collectionNames(cards, column);
  return { ...ranking, top: ranking.top.map((each) => ({ ...each, name: names.get(each.value) ?? null })) };
}

/** The first name, by its bytes, that the export has for each of the largest collections. */
async function collectionNames({ session, tables }: Cards, column: string): Promise<Map<string, string>> {
  const largest = `SELECT ${column} FROM "assets" WHERE ${column} <> '' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ${topCollections}`;
  const named = tables.has('collections')
    ? { table: 'collections', key: '"address"', name: '"name"' }
    : tables.has('grouping')
      ? { table: 'grouping', key: '"group_value"', name: jsonMember('"collection_metadata"', '$.name') }
      : undefined;
  if (named === undefined) return new Map();
  const rows = await session.query(
    `SELECT ${named.key}, min(left(${named.name}, ${mostText})) FROM ${doubleQuoted(named.table)}
     WHERE ${named.key} IN (${largest}) AND ${named.name} <> '' GROUP BY 1 ORDER BY 1`,
  );
  return new Map(rows.map(([key, name]) => [String(key), String(name)]));
}

async function traitsOf({ session, tables }: Cards): Promise<Ranking<Trait> | undefined> {
  if (!tables.has('attributes')) return undefined;
  const ranking = await rankingOf(session, 'attributes', '"trait_type"', topTraits);
  const traits = `SELECT v FROM (SELECT "trait_type" AS v, count(*) AS n FROM "attributes" WHERE "trait_type" <> '' GROUP BY v)
    ORDER BY n DESC, v LIMIT ${topTraits}`;
  const values = `SELECT "trait_type" AS t, "value" AS v, count(*) AS n FROM "attributes"
    WHERE "trait_type" IN (${traits}) AND "value" IS NOT NULL GROUP BY t, v`;
  const rows = await session.query(
    `SELECT left(t, ${mostText}), left(v, ${mostText}), n, d FROM (
       SELECT t, v, n, count(*) OVER (PARTITION BY t) AS d, row_number() OVER (PARTITION BY t ORDER BY n DESC, v) AS place FROM (${values})
     ) WHERE place <= ${topTraitValues} ORDER BY t, place`,
  );
  const top = ranking.top.map((trait): Trait => {
    const mine = rows.filter(([name]) => name === trait.value);
    return {
      ...trait,
      distinct: Number(mine[0]?.[3] ?? 0),
      values: mine.map(([, value, count]) => ({ value: String(value), count: Number(count) })),
    };
  });
  return { ...ranking, top };
}

/** Basis points in a class, and where one class holds all above. */
const royaltyStep = 50;
const royaltyMost = 1000;
const mostCreators = 10;
const mostAttributes = 20;
const shareStep = 10;

async function histogramsOf(
  cards: Cards,
): Promise<Pick<AssetCards, 'royalty' | 'creatorsPerAsset' | 'creatorShare' | 'attributesPerAsset' | 'printSupply'>> {
  const points = columnOf(cards, 'assets', 'royalty_basis_points');
  const share = columnOf(cards, 'creators', 'share');
  const supply = columnOf(cards, 'assets', 'supply_print_max_supply');
  return {
    ...(points && { royalty: await royaltyOf(cards.session, points) }),
    ...present('creatorsPerAsset', await elementsPerAsset(cards, 'creators', mostCreators)),
    ...(share && { creatorShare: await creatorShareOf(cards.session, share) }),
    ...present('attributesPerAsset', await elementsPerAsset(cards, 'attributes', mostAttributes)),
    ...present('printSupply', supply === undefined ? undefined : await printSupplyOf(cards.session, supply)),
  };
}

async function royaltyOf(session: DuckdbSession, column: string): Promise<LabelledCount[]> {
  const bin = `greatest(least(${column} // ${royaltyStep}, ${royaltyMost / royaltyStep}), -1)`;
  const counts = await classCounts(session, 'assets', column, bin);
  const label = (from: number): string => `${from}–${from + royaltyStep - 1}`;
  return [
    ...(counts.has(-1) ? [{ label: 'below 0', count: counts.get(-1) ?? 0 }] : []),
    ...Array.from({ length: royaltyMost / royaltyStep }, (_, bin) => ({
      label: label(bin * royaltyStep),
      count: counts.get(bin) ?? 0,
    })),
    { label: `≥ ${count(royaltyMost)}`, count: counts.get(royaltyMost / royaltyStep) ?? 0 },
  ];
}

async function creatorShareOf(session: DuckdbSession, column: string): Promise<LabelledCount[]> {
  const bin = `CASE WHEN ${column} < 0 OR ${column} > 100 THEN 11 ELSE ${column} // ${shareStep} END`;
  const counts = await classCounts(session, 'creators', column, bin);
  const classes = Array.from({ length: 10 }, (_, bin) => ({
    label: `${bin * shareStep}–${bin * shareStep + shareStep - 1}`,
    count: counts.get(bin) ?? 0,
  }));
  const odd = counts.has(11) ? [{ label: 'no percentage', count: counts.get(11) ?? 0 }] : [];
  return [...classes, { label: '100', count: counts.get(10) ?? 0 }, ...odd];
}

/** How many assets have 0, 1, 2, … rows in a child table. */
async function elementsPerAsset(
  { session, tables }: Cards,
  table: string,
  most: number,
): Promise<LabelledCount[] | undefined> {
  if (!tables.has(table) || !tables.has('assets')) return undefined;
  const rows = await session.query(
    `SELECT least(n, ${most}) AS bin, count(*) FROM (SELECT count(*) AS n FROM ${doubleQuoted(table)} GROUP BY "asset_id") GROUP BY bin ORDER BY bin`,
  );
  const [[assets] = []] = await session.query('SELECT count(*) FROM "assets"');
  const counts = new Map(rows.map(([bin, count]) => [Number(bin), Number(count)]));
  const withAny = [...counts.values()].reduce((total, count) => total + count, 0);
  const largest = Math.max(0, ...counts.keys());
  return Array.from({ length: largest + 1 }, (_, bin) => ({
    label: bin === most ? `≥ ${most}` : String(bin),
    count: bin === 0 ? Math.max(0, Number(assets) - withAny) : (counts.get(bin) ?? 0),
  }));
}

/** Powers of ten, as a print may be one of one or one of a million. */
async function printSupplyOf(session: DuckdbSession, column: string): Promise<LabelledCount[] | undefined> {
  const bin = `CASE WHEN ${column} <= 0 THEN 0 ELSE least(length(CAST(${column} AS VARCHAR)), 7) END`;
  const counts = await classCounts(session, 'assets', column, bin);
  const largest = Math.max(-1, ...counts.keys());
  if (largest < 0) return undefined;
  const labels = ['0', '1–9', '10–99', '100–999', '1,000–9,999', '10,000–99,999', '100,000–999,999', '≥ 1,000,000'];
  return labels.slice(0, largest + 1).map((label, bin) => ({ label, count: counts.get(bin) ?? 0 }));
}

/** How many rows have a column's value in each class. @param bin an expression of SQL for the number of the class */
async function classCounts(
  session: DuckdbSession,
  table: string,
  column: string,
  bin: string,
): Promise<Map<number, number>> {
  const rows = await session.query(
    `SELECT CAST(${bin} AS INTEGER) AS bin, count(*) FROM ${doubleQuoted(table)} WHERE ${column} IS NOT NULL GROUP BY bin ORDER BY bin`,
  );
  return new Map(rows.map(([key, count]) => [Number(key), Number(count)]));
}
