/** A text that many cells of child tables hold, among the bytes that their blocks begin with. */
export interface Constant {
  readonly from: number;
  readonly length: number;
}

const positions = Array.from({ length: 100 }, (_, position) => String(position).padEnd(2)).join('');
const types = ['string', 'number', 'boolean', 'array', 'object', 'null'] as const;

/** What the blocks of child tables begin with: positions up to 99, two bytes each, and the JSON types. */
export const childConstants: Uint8Array = Buffer.from(positions + types.join(''));

/** Where a position below 100 lies. */
export function positionAt(position: number): number {
  return position * 2;
}

export const traitTypes = {
  string: constantOf('string'),
  number: constantOf('number'),
  boolean: constantOf('boolean'),
  array: constantOf('array'),
  object: constantOf('object'),
  null: constantOf('null'),
} as const;

function constantOf(type: (typeof types)[number]): Constant {
  return { from: positions.length + types.slice(0, types.indexOf(type)).join('').length, length: type.length };
}
