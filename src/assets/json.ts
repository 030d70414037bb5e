import { ExactNumber } from './exact-number.ts';
import { isJsonObject, type Json } from './json-value.ts';
import { parseExact } from './parse-exact.ts';
import { stringifyExact } from './stringify-exact.ts';

export type { JsonArray, JsonObject } from './json-value.ts';
export type { Json };
export { ExactNumber, isJsonObject };

/**
 * Finds the numbers that JavaScript may print differently: every number but plain integers of at most 15 digits and
 * fractions of at most 7 + 6 digits without a closing zero, which a double always gives back (15 significant digits,
 * and no exponent from 0.000001 up). A number stands behind `:`, `,` or `[` and before `,`, `}` or `]`; what looks the
 * same inside a string only costs time. No part can match the same text in two ways, so the search is linear.
 */
const doubtfulNumber =
  /[:,[][ \t\n\r]*(?!0[,}\]]|-?[1-9]\d{0,14}[,}\]]|-?\d{1,7}\.\d{0,5}[1-9][,}\]])(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[ \t\n\r]*[,}\]])/g;

const startsWithNumber = /^[ \t\n\r]*[-\d]/;

/**
 * Parses JSON text without changing a digit. Of equal keys the last wins; nesting may be as deep as the text is long.
 * @throws {SyntaxError} when the text is not JSON.
 */
export function parseJson(text: string): Json {
  const value = JSON.parse(text) as Json;
  return keepsDigits(text) ? value : parseExact(text);
}

/** JSON text of a value, on one line; numbers come out digit for digit, lone surrogates as escapes. */
export function stringifyJson(value: Json): string {
  const met = ExactNumber.met;
  try {
    const text = JSON.stringify(value);
    if (ExactNumber.met === met) return text;
  } catch (error) {
    // JSON.stringify recurses: a deep value overflows its stack. Anything else would fail again below.
    if (!(error instanceof RangeError)) throw error;
  }
  return stringifyExact(value);
}

/** True when JavaScript prints every number of the text just as it stands there. */
function keepsDigits(text: string): boolean {
  if (startsWithNumber.test(text)) return false;
  doubtfulNumber.lastIndex = 0;
  for (let match = doubtfulNumber.exec(text); match !== null; match = doubtfulNumber.exec(text)) {
    const number = match[1];
    if (number !== String(Number(number))) return false;
  }
  return true;
}
