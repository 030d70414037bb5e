const positions = Array.from({ length: 100 }, (_, position) => String(position).padEnd(2)).join('');

/** JSON types, in the order in which the kernel knows them (kernel/cells.ts). */
const types = ['string', 'number', 'boolean', 'array', 'object', 'null'];

/** What the texts begin with that no answer holds: positions up to 99, two bytes each, and the JSON types. */
export const childConstants: Uint8Array = Buffer.from(positions + types.join(''));

/** Where the types begin in them. */
export const typesOffset: number = positions.length;
