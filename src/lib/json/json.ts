import { ExactNumber, stringifyMarked } from './exact-number.ts';
import { isJsonObject, type Json } from './json-value.ts';
import { parseExact } from './parse-exact.ts';
import { parseMarked } from './parse-marked.ts';
import { stringifyExact } from './stringify-exact.ts';

export type { JsonObject } from './json-value.ts';
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

const markedNumber = /"\\u0000(-?\d[^"]*)"/g;

/** JSON text of a value, on one line; numbers come out digit for digit, lone surrogates as escapes. */
export function stringifyJson(value: Json): string {
  try {
    const { text, count } = stringifyMarked(value);
    if (count === 0) return text;
    let unmarked = 0;
    const exact = text.replaceAll(markedNumber, (_, number: string) => {
      unmarked += 1;
      return number;
    });
    // Every marked string is found, as no match reaches beyond its string; more are strings that only look like one.
    if (unmarked === count) return exact;
  } catch (error) {
    // JSON.stringify recurses: a deep value overflows its stack. Anything else would fail again below.
    if (!(error instanceof RangeError)) throw error;
  }
  return stringifyExact(value);
}
