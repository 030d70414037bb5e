import { type Column, type Table, wholeName } from '../../../core/records/table.ts';
import type { EngineName } from '../engines.ts';
import type { InPlaceName } from '../in-place/in-place-engines.ts';
import { type ViewType, type ViewWords, viewWords } from './view-words.ts';

/** The tables that a view is made over. */
export interface ViewedTables {
  readonly tables: readonly Table[];
  /** In front of the name of each table, and of the view. */
  readonly prefix: string;
  /** Whether they were loaded with scd2: the view shows the open rows. */
  readonly isVersions: boolean;
}

/** Columns of the view that are a column of `assets`. */
const plainColumns: readonly (readonly [name: string, from: string, type: ViewType])[] = [
  ['metadata_uri', 'content_json_uri', 'string'],
  ['royalty_basis_points', 'royalty_basis_points', 'int64'],
  ['attributes', 'content_metadata_attributes', 'json'],
  ['compressed', 'compression_compressed', 'boolean'],
  ['frozen', 'ownership_frozen', 'boolean'],
  ['burnt', 'burnt', 'boolean'],
  ['fetched_at', 'fetched_at', 'timestamp'],
];

/** The columns of the view, in their order. */
export const nftViewColumns: readonly string[] = [
  ...['mint', 'nft_name', 'nft_symbol', 'collection_id', 'collection_name'],
  ...['owner', 'authority', 'creators', 'image_url'],
  ...plainColumns.map(([as]) => as),
];

/** The view `nft_metadata`: a row for each asset, under names that need no explanation. What the tables cannot fill is null. */
export function nftView(name: EngineName | InPlaceName, viewed: ViewedTables): string {
  const words = viewWords[name];
  const { quote, types } = words;
  const assets = viewed.tables.find((table) => table.name === 'assets');
  const columnOf = (whole: string): Column | undefined => assets?.columns.find((column) => wholeName(column) === whole);
  const filled = (whole: string, type: ViewType): string => {
    const column = columnOf(whole);
    return column === undefined ? `CAST(NULL AS ${types[type]})` : `a.${quote(column.name)}`;
  };
  const first = new FirstRows(words, viewed);
  const id = filled('id', 'string');
  const isKnown = columnOf('id') !== undefined;
  const nothing = `CAST(NULL AS ${types.string})`;
  const collection = isKnown ? first.value('collections', 'name') : undefined;
  const selected: (readonly [name: string, value: string])[] = [
    ['mint', id],
    ['nft_name', filled('content_metadata_name', 'string')],
    ['nft_symbol', filled('content_metadata_symbol', 'string')],
    ['collection_id', filled('collection', 'string')],
    ['collection_name', collection ?? nothing],
    ['owner', filled('ownership_owner', 'string')],
    ['authority', authorityOf(words, columnOf('authorities'), isKnown ? first : undefined) ?? nothing],
    ['creators', filled('creators', 'json')],
    ['image_url', imageOf(words, columnOf('content_links'), isKnown ? first : undefined) ?? nothing],
    ...plainColumns.map(([as, whole, type]) => [as, filled(whole, type)] as const),
  ];
  const lines = selected.map(([as, value]) => `  ${value} AS ${quote(as)}`);
  return [
    `CREATE OR REPLACE VIEW ${quote(`${viewed.prefix}nft_metadata`)} AS`,
    `SELECT\n${lines.join(',\n')}`,
    `FROM ${quote(`${viewed.prefix}assets`)} AS a`,
    ...first.joins(id),
    ...(viewed.isVersions ? [`WHERE a.${quote('valid_to')} IS NULL`] : []),
  ]
    .join('\n')
    .concat(';\n');
}

function authorityOf({ quote, member }: ViewWords, column: Column | undefined, first?: FirstRows): string | undefined {
  const child = first?.value('authorities', 'address');
  if (child !== undefined || column === undefined) return child;
  return `NULLIF(${member(`a.${quote(column.name)}`, 0, 'address')}, '')`;
}

/** The image that the links name, else the first file that is one. */
function imageOf({ quote, member }: ViewWords, links: Column | undefined, first?: FirstRows): string | undefined {
  const linked = links === undefined ? undefined : `NULLIF(${member(`a.${quote(links.name)}`, 'image')}, '')`;
  const file = first?.value('files', 'uri', "LIKE 'image/%'");
  if (linked === undefined || file === undefined) return linked ?? file;
  return `COALESCE(${linked}, ${file})`;
}

/** Joins with the first row of an asset in child tables: never more than one row, so that the view has one for each asset. */
class FirstRows {
  readonly #words: ViewWords;
  readonly #viewed: ViewedTables;
  readonly #joined: string[] = [];

  constructor(words: ViewWords, viewed: ViewedTables) {
    this.#words = words;
    this.#viewed = viewed;
  }

  /** A column of the first row; undefined where there is no such table. @param mime of the files that count */
  value(table: string, column: string, mime?: string): string | undefined {
    const { quote } = this.#words;
    const { tables, prefix, isVersions } = this.#viewed;
    if (tables.every(({ name }) => name !== table)) return undefined;
    const conditions = [
      ...(mime === undefined ? [] : [`${quote('mime')} ${mime}`]),
      ...(isVersions ? [`${quote('valid_to')} IS NULL`] : []),
    ];
    const where = conditions.length === 0 ? '' : `\n    WHERE ${conditions.join(' AND ')}`;
    const [asset, position] = ['asset_id', 'position'].map(quote);
    this.#joined.push(`LEFT JOIN (
  SELECT ${asset}, ${quote(column)} FROM (
    SELECT ${asset}, ${quote(column)}, row_number() OVER (PARTITION BY ${asset} ORDER BY ${position}) AS n
    FROM ${quote(prefix + table)}${where}
  ) AS numbered WHERE n = 1
) AS first_${table} ON first_${table}.${asset} = `);
    return `first_${table}.${quote(column)}`;
  }

  joins(id: string): string[] {
    return this.#joined.map((join) => join + id);
  }
}
