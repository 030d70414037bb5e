import { unexportedColumns } from './id-tables.ts';
import { type Column, type ColumnType, isIdColumn, type RowOf, type Table } from './table.ts';

/**
 * The columns of every table, the one place that names them: flattening, file headers, schemas, DDL and documents come
 * from here. Order, names and types are the specification's; `json` is what it leaves open.
 *
 * The number before each is its field id (`Column.fieldId`). It is for ever: files and Iceberg tables that exist name columns by
 * it. A new column takes the next free number, wherever it stands.
 */

/** A path joined with `_`, without `$`. */
type NameAt<P extends string> = P extends `${infer A}.${infer B}`
  ? `${NameAt<A>}_${NameAt<B>}`
  : P extends `$${infer A}`
    ? A
    : P;

/** A column for the member at a dotted path, named by it. */
function at<P extends string, T extends ColumnType>(
  fieldId: number,
  path: P,
  type: T,
  about: string,
): Column<NameAt<P>, T> {
  const name = path.replaceAll('.', '_').replaceAll('$', '') as NameAt<P>;
  return { name, fieldId, type, nullable: true, path: path.split('.'), about };
}

/** A column with the values that the specification allows. */
function oneOf<P extends string>(
  fieldId: number,
  path: P,
  about: string,
  values: readonly string[],
): Column<NameAt<P>, 'string'> {
  return { ...at(fieldId, path, 'string', about), values };
}

/** A column that no single member fills. */
function derived<N extends string, T extends ColumnType>(
  fieldId: number,
  name: N,
  type: T,
  about: string,
): Column<N, T> {
  return { name, fieldId, type, nullable: true, path: [], about };
}

function required<N extends string, T extends ColumnType>(column: Column<N, T>): Column<N, T, false> {
  return { ...column, nullable: false };
}

/** When the export that requested a row began: in exports with a base. */
export const fetchedAt: Column = {
  name: 'fetched_at',
  fieldId: 101,
  type: 'timestamp',
  nullable: false,
  path: [],
  about: 'Start of the export that requested the row, UTC: a row that was carried over keeps its own.',
};

export const changedAt = derived(
  115,
  'changed_at',
  'timestamp',
  'Start of the newer export, UTC; null where it is not known.',
);

/** Whether a compressed asset's values give the hashes that its record carries: in exports with `output.proofs`. */
export const proofColumns: readonly Column[] = [
  derived(116, 'creators_agree', 'boolean', 'Whether the creators give creator_hash; null when not compressed.'),
  derived(117, 'metadata_agrees', 'boolean', 'Whether the metadata gives data_hash; null when not compressed.'),
  derived(118, 'leaf_agrees', 'boolean', 'Whether id, owner and delegate give asset_hash; null when not compressed.'),
];

/** The columns that a verdict depends on. */
export const provenColumns: readonly string[] = [
  ...['id', 'content_json_uri', 'content_metadata_name', 'content_metadata_symbol', 'content_metadata_token_standard'],
  ...['ownership_owner', 'ownership_delegate', 'compression_compressed', 'compression_data_hash'],
  ...['compression_creator_hash', 'compression_asset_hash', 'compression_leaf_id', 'royalty_basis_points'],
  ...['royalty_primary_sale_happened', 'creators', 'grouping', 'collection', 'uses_use_method', 'uses_remaining'],
  ...['uses_total', 'supply_edition_nonce', 'mutable', 'extra'],
];

const extra = derived(48, 'extra', 'json', 'All values without a column, or that do not fit their column, by path.');

const assetsColumns = [
  required(at(1, 'id', 'string', 'Asset id, a base58 public key.')),
  oneOf(2, 'interface', 'Interface; others are possible.', [
    'V1_NFT',
    'V1_PRINT',
    'LEGACY_NFT',
    'V2_NFT',
    'FungibleAsset',
    'FungibleToken',
    'Custom',
    'Identity',
    'Executable',
    'ProgrammableNFT',
  ]),
  at(3, 'content.$schema', 'string', 'Schema URI of the content.'),
  at(4, 'content.json_uri', 'string', "URI of the asset's JSON metadata; often empty."),
  at(5, 'content.files', 'json', 'Associated files, an array of objects with uri, mime and contexts.'),
  at(6, 'content.metadata.name', 'string', 'Name of the asset.'),
  at(7, 'content.metadata.symbol', 'string', 'Symbol of the asset.'),
  at(8, 'content.metadata.description', 'string', 'Description of the asset.'),
  at(
    9,
    'content.metadata.attributes',
    'json',
    'Attributes, an array of objects with trait_type and value, or an object.',
  ),
  at(10, 'content.metadata.token_standard', 'string', 'Token standard; present for some assets only.'),
  at(11, 'content.links', 'json', 'Links, an object with image, external_url and others.'),
  at(12, 'authorities', 'json', 'Authorities, an array of objects with address and scopes.'),
  at(13, 'ownership.owner', 'string', "Owner's public key; may be empty."),
  at(14, 'ownership.frozen', 'boolean', 'Whether the asset is frozen.'),
  at(15, 'ownership.delegated', 'boolean', 'Whether the asset is delegated.'),
  at(16, 'ownership.delegate', 'string', "Delegate's public key; null when not delegated."),
  at(17, 'ownership.ownership_model', 'string', 'Ownership model, for example single or token.'),
  at(18, 'compression.eligible', 'boolean', 'Whether the asset is eligible for compression.'),
  at(19, 'compression.compressed', 'boolean', 'Whether the asset is compressed.'),
  at(20, 'compression.data_hash', 'string', 'Data hash; empty when not compressed.'),
  at(21, 'compression.creator_hash', 'string', 'Creator hash; empty when not compressed.'),
  at(22, 'compression.asset_hash', 'string', 'Asset hash; empty when not compressed.'),
  at(23, 'compression.tree', 'string', 'Merkle tree id; empty when not compressed.'),
  at(24, 'compression.seq', 'int64', 'Sequence number; 0 when not compressed.'),
  at(25, 'compression.leaf_id', 'int64', 'Leaf id; 0 when not compressed.'),
  oneOf(26, 'royalty.royalty_model', 'Royalty model.', ['creators', 'fanout', 'single']),
  at(27, 'royalty.target', 'string', 'Target address for royalties.'),
  at(28, 'royalty.percent', 'double', 'Royalty as a fraction (0.05 is 5 %), as the service computed it.'),
  at(29, 'royalty.basis_points', 'int64', 'Royalty in basis points (500 is 5 %).'),
  at(30, 'royalty.primary_sale_happened', 'boolean', 'Whether the primary sale has occurred.'),
  at(31, 'royalty.locked', 'boolean', 'Whether the royalty is locked.'),
  at(32, 'creators', 'json', 'Creators, an array of objects with address, share and verified.'),
  at(33, 'grouping', 'json', 'Groups, an array of objects with group_key and group_value.'),
  derived(34, 'collection', 'string', 'The group_value of the first group whose group_key is collection.'),
  oneOf(35, 'uses.use_method', 'Use method.', ['burn', 'multiple', 'single']),
  at(36, 'uses.remaining', 'int64', 'Remaining uses.'),
  at(37, 'uses.total', 'int64', 'Total uses.'),
  at(38, 'supply.print_max_supply', 'int64', 'Maximum supply for prints.'),
  at(39, 'supply.print_current_supply', 'int64', 'Current supply for prints.'),
  at(40, 'supply.edition_nonce', 'int64', 'Edition nonce.'),
  at(41, 'mutable', 'boolean', 'Whether the asset is mutable.'),
  at(42, 'burnt', 'boolean', 'Whether the asset is burnt.'),
  at(
    43,
    'token_info.supply',
    'decimal',
    'Supply in base units, an unsigned integer of 64 bits; only with showFungible.',
  ),
  at(44, 'token_info.decimals', 'int64', 'Decimal places of the token; only with showFungible.'),
  at(45, 'token_info.token_program', 'string', 'Token program; only with showFungible.'),
  at(46, 'token_info.mint_authority', 'string', 'Mint authority; only with showFungible.'),
  at(47, 'token_info.freeze_authority', 'string', 'Freeze authority; only with showFungible.'),
  extra,
] as const;

export const assetsTable: Table<readonly Column[], 'assets'> = { name: 'assets', columns: assetsColumns };

const childColumns = [
  required(derived(1, 'asset_id', 'string', 'Id of the asset that the row belongs to.')),
  required(derived(2, 'position', 'int64', "Position of the element in the asset's list, from 0.")),
] as const;

/** A child table: a row an element of the array at `list`, in its order. @param extraId the field id of its `extra` */
function childTable<const C extends readonly Column[]>(
  list: string,
  extraId: number,
  columns: C,
): Table<readonly [...typeof childColumns, ...C, typeof extra]> {
  const path = list.split('.');
  const about = 'Values without a column or that do not fit; the element if no object.';
  const all = [...childColumns, ...columns, { ...extra, fieldId: extraId, about }] as const;
  return { name: path.at(-1) ?? list, list: path, columns: all };
}

export const creatorsTable = childTable('creators', 6, [
  at(3, 'address', 'string', "Creator's public key."),
  at(4, 'share', 'int64', 'Share of the royalty in percent.'),
  at(5, 'verified', 'boolean', 'Whether the creator has signed.'),
]);

export const authoritiesTable = childTable('authorities', 5, [
  at(3, 'address', 'string', "Authority's public key; may be empty."),
  at(4, 'scopes', 'json', 'Permissions of the authority, an array of strings.'),
]);

export const groupingTable = childTable('grouping', 7, [
  at(3, 'group_key', 'string', 'Kind of group, for example collection.'),
  at(4, 'group_value', 'string', 'The group, for a collection its public key.'),
  at(5, 'verified', 'boolean', 'Whether the membership is verified; only with showUnverifiedCollections.'),
  at(6, 'collection_metadata', 'json', 'Metadata of the collection, an object; only with showCollectionMetadata.'),
]);

/** The collections of an asset: the elements of `grouping` that name one, with what the service says of it. */
export const collectionsTable = {
  ...childTable('grouping', 8, [
    { ...at(3, 'group_value', 'string', "The collection's public key."), name: 'address' as const },
    ...(['name', 'symbol', 'image'] as const).map((name, place) => ({
      ...at(
        4 + place,
        `collection_metadata.${name}`,
        'string',
        `The collection's ${name}; only with showCollectionMetadata.`,
      ),
      name,
    })),
    at(7, 'verified', 'boolean', 'Whether the membership is verified; only with showUnverifiedCollections.'),
  ]),
  name: 'collections',
  where: { member: 'group_key', value: 'collection' },
};

export const filesTable = childTable('content.files', 6, [
  at(3, 'uri', 'string', 'URI of the file, as the service sent it.'),
  at(4, 'mime', 'string', 'MIME type of the file.'),
  at(5, 'contexts', 'json', 'Contexts of the file; the specification does not define their form.'),
]);

export const attributesTable = childTable('content.metadata.attributes', 7, [
  at(3, 'trait_type', 'string', 'Name of the trait.'),
  at(4, 'value', 'string', 'As text: numbers digit for digit, true or false, objects and arrays as JSON.'),
  derived(5, 'value_type', 'string', 'JSON type of the value: string, number, boolean, object, array or null.'),
  at(6, 'display_type', 'string', 'How to display the value, for example number.'),
]);

/** The tables that are made of records alone. */
export const tables: readonly Table[] = [
  assetsTable,
  creatorsTable,
  authoritiesTable,
  groupingTable,
  collectionsTable,
  filesTable,
  attributesTable,
];

const changeColumnsOwn = [
  { ...required(derived(111, 'op', 'string', 'What happened.')), values: ['insert', 'update', 'delete'] },
  {
    ...derived(112, 'reason', 'string', 'Of a delete: not known to the service, failed, or not among the ids.'),
    values: ['missing', 'failed', 'unlisted'],
  },
  changedAt,
  required(at(1, 'id', 'string', 'Asset id, a base58 public key.')),
  derived(113, 'changed', 'json', 'Of an update: names of the columns that differ, in their order.'),
  derived(114, 'before', 'json', 'Old values of these columns by name; of a delete the whole old row.'),
] as const;

/**
 * What an export changed of its base: a row for each asset that differs, with its values as they are now. It is made from two
 * rows of `assets`, not from a record alone.
 */
export const changesTable: Table<readonly Column[], 'changes'> = {
  name: 'changes',
  columns: [...changeColumnsOwn, ...assetsTable.columns.filter(({ name }) => name !== 'id')],
};

/** The columns of `changes` that `assets` does not have. */
export const changeColumns: readonly string[] = ['op', 'reason', changedAt.name, 'changed', 'before'];

/** The table `changes` for columns of `assets`: those of its own, then these. A deleted row has none of them but the id. */
export function changesOf(assets: readonly Column[]): Table {
  const own = changeColumnsOwn;
  const columns = [
    ...own.map((column) => (isIdColumn(column) ? (assets.find(isIdColumn) ?? column) : column)),
    ...assets.filter((column) => !isIdColumn(column)).map((column) => ({ ...column, nullable: true })),
  ];
  return { ...changesTable, columns };
}

/** All tables, `changes` too. */
export const tableNames = [...tables, changesTable].map((table) => table.name as TableName);

/** Columns that the job adds. */
interface AddedColumns {
  readonly fetched_at?: number;
  readonly exported_at?: number;
}

/** The rows of each table as `readRows` gives them, of exports with all columns under their own names. */
export interface TableRows {
  readonly assets: RowOf<typeof assetsColumns> & AddedColumns;
  readonly creators: RowOf<typeof creatorsTable.columns> & AddedColumns;
  readonly authorities: RowOf<typeof authoritiesTable.columns> & AddedColumns;
  readonly grouping: RowOf<typeof groupingTable.columns> & AddedColumns;
  readonly collections: RowOf<typeof collectionsTable.columns> & AddedColumns;
  readonly files: RowOf<typeof filesTable.columns> & AddedColumns;
  readonly attributes: RowOf<typeof attributesTable.columns> & AddedColumns;
  readonly changes: RowOf<typeof changeColumnsOwn> & Omit<RowOf<typeof assetsColumns>, 'id'> & AddedColumns;
  readonly unexported: RowOf<typeof unexportedColumns>;
}

export type TableName = Exclude<keyof TableRows, 'unexported'>;

/** The table of that name, or undefined. */
export function tableByName(name: string): Table | undefined {
  return name === changesTable.name ? changesTable : tables.find((table) => table.name === name);
}
