import { ExactNumber } from './json/exact-number.ts';
import { doubleOf, int64Of, uint64Of } from './fit-number.ts';
import { stringifyJson } from './json/json.ts';
import type { Json } from './json/json-value.ts';
import type { Cell, ColumnType } from './table.ts';

/** The cell for a value that is not null, or undefined when the column cannot hold just that value. */
export type Fit = (value: Json) => Cell | undefined;

export const fits: Readonly<Record<ColumnType, Fit>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  int64: (value) => (isNumber(value) ? int64Of(value) : undefined),
  double: (value) => (isNumber(value) ? doubleOf(value) : undefined),
  decimal: (value) => (isNumber(value) ? uint64Of(value) : undefined),
  json: stringifyJson,
  // The service has none: the column for it is derived.
  timestamp: () => undefined,
};

function isNumber(value: Json): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}
