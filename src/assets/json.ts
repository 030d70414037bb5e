import { ExactNumber } from './exact-number.ts';
import { isJsonObject, type Json } from './json-value.ts';
import { parseExact } from './parse-exact.ts';
import { parseMarked } from './parse-marked.ts';
import { stringifyExact } from './stringify-exact.ts';

export type { JsonArray, JsonObject } from './json-value.ts';
export type { Json };
export { ExactNumber, isJsonObject };

/**
 * Parses JSON text without changing a digit. Of equal keys the last wins; nesting may be as deep as the text is long.
 * @throws {SyntaxError} when the text is not JSON.
 */
export function parseJson(text: string): Json {
  const marked = parseMarked(text);
  if (marked !== undefined) return marked;
  // What is not JSON ends here, with the engine's own words; parseExact trusts what it is given.
  JSON.parse(text);
  return parseExact(text);
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
