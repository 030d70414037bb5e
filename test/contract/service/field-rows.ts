import { expect } from 'vitest';
import { type Row, recordsOf } from './row.ts';

type Shape =
  | 'string'
  | 'string or null'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'object'
  | 'array'
  | 'strings'
  | 'string or number'
  | 'anything';

/** A member of a record: its path, in which `*` stands for each element, and what it holds. */
type Field = readonly [path: string, shape: Shape];

/** Section 2 of the specification, a line a field; null stands for absent where real servers send it. */
const fields: readonly Field[] = [
  ['interface', 'string'],
  ['id', 'string'],
  ['content', 'object'],
  ['content.$schema', 'string'],
  ['content.json_uri', 'string'],
  ['content.files', 'array'],
  ['content.files.*.uri', 'string'],
  ['content.files.*.mime', 'string'],
  ['content.files.*.contexts', 'anything'],
  ['content.metadata', 'object'],
  ['content.metadata.name', 'string'],
  ['content.metadata.symbol', 'string'],
  ['content.metadata.description', 'string'],
  ['content.metadata.attributes', 'array'],
  ['content.metadata.attributes.*.trait_type', 'string'],
  ['content.metadata.attributes.*.value', 'string or number'],
  ['content.metadata.attributes.*.display_type', 'string'],
  ['content.metadata.token_standard', 'string'],
  ['content.links', 'object'],
  ['content.links.image', 'string'],
  ['content.links.external_url', 'string'],
  ['authorities', 'array'],
  ['authorities.*.address', 'string'],
  ['authorities.*.scopes', 'strings'],
  ['ownership', 'object'],
  ['ownership.owner', 'string'],
  ['ownership.frozen', 'boolean'],
  ['ownership.delegated', 'boolean'],
  ['ownership.delegate', 'string or null'],
  ['ownership.ownership_model', 'string'],
  ['compression', 'object'],
  ['compression.eligible', 'boolean'],
  ['compression.compressed', 'boolean'],
  ['compression.data_hash', 'string'],
  ['compression.creator_hash', 'string'],
  ['compression.asset_hash', 'string'],
  ['compression.tree', 'string'],
  ['compression.seq', 'integer'],
  ['compression.leaf_id', 'integer'],
  ['royalty', 'object'],
  ['royalty.royalty_model', 'string'],
  ['royalty.target', 'string or null'],
  ['royalty.percent', 'number'],
  ['royalty.basis_points', 'integer'],
  ['royalty.primary_sale_happened', 'boolean'],
  ['royalty.locked', 'boolean'],
  ['creators', 'array'],
  ['creators.*.address', 'string'],
  ['creators.*.share', 'integer'],
  ['creators.*.verified', 'boolean'],
  ['grouping', 'array'],
  ['grouping.*.group_key', 'string'],
  ['grouping.*.group_value', 'string or null'],
  ['uses', 'object'],
  ['uses.use_method', 'string'],
  ['uses.remaining', 'integer'],
  ['uses.total', 'integer'],
  ['supply', 'object'],
  ['supply.print_max_supply', 'integer'],
  ['supply.print_current_supply', 'integer'],
  ['supply.edition_nonce', 'integer'],
  ['mutable', 'boolean'],
  ['burnt', 'boolean'],
  ['token_info', 'object'],
  ['token_info.supply', 'integer'],
  ['token_info.decimals', 'integer'],
  ['token_info.token_program', 'string'],
  ['token_info.mint_authority', 'string'],
  ['token_info.freeze_authority', 'string'],
];

/** What the specification says of values beyond their types. */
const values: readonly (readonly [rule: string, path: string, holds: (value: unknown, parent: object) => boolean])[] = [
  [
    'royalty.royalty_model is creators, fanout or single',
    'royalty.royalty_model',
    among('creators', 'fanout', 'single'),
  ],
  [
    'uses.use_method is burn, multiple or single',
    'uses.use_method',
    (value) => among('burn', 'multiple', 'single')(String(value).toLowerCase()),
  ],
  ['id is base58', 'id', (value) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(String(value))],
  [
    'royalty.percent is basis_points divided by 10000',
    'royalty.percent',
    (value, parent) => Math.abs(Number(value) - Number(Reflect.get(parent, 'basis_points')) / 10_000) < 1e-9,
  ],
];

const isShape: Readonly<Record<Shape, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  'string or null': (value) => typeof value === 'string',
  'string or number': (value) => ['string', 'number', 'boolean'].includes(typeof value),
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  object: (value) => typeof value === 'object' && !Array.isArray(value),
  array: Array.isArray,
  strings: (value) => Array.isArray(value) && value.every((element) => typeof element === 'string'),
  anything: () => true,
};

const everything = { showFungible: true, showCollectionMetadata: true };

/** Every field of the specification: where it occurs, it holds what it should. */
export const fieldRows: readonly Row[] = [
  ...fields.map(([path, shape]) => fieldRow(`${path}: ${shape}`, path, (value) => isShape[shape](value))),
  ...values.map(([rule, path, holds]) => fieldRow(rule, path, holds)),
];

function fieldRow(rule: string, path: string, holds: (value: unknown, parent: object) => boolean): Row {
  return {
    source: 'specification 2',
    rule,
    check: async (target) => {
      const records = await recordsOf(target, everything);
      const found = records.flatMap((record) => membersAt(record, path.split('.')));
      for (const { value, parent } of found)
        expect(holds(value, parent), `${path} is ${JSON.stringify(value)}`).toBe(true);
      return found.length === 0 ? 'not seen' : 'kept';
    },
  };
}

/** The values at a path, but for null, with the objects that they stand in. */
function membersAt(parent: unknown, [step = '', ...rest]: readonly string[]): { value: unknown; parent: object }[] {
  if (typeof parent !== 'object' || parent === null) return [];
  if (step === '*') return Array.isArray(parent) ? parent.flatMap((element) => membersAt(element, rest)) : [];
  const value: unknown = Reflect.get(parent, step);
  if (value === undefined || value === null) return [];
  return rest.length === 0 ? [{ value, parent }] : membersAt(value, rest);
}

function among(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => allowed.includes(String(value));
}
