import { ExactNumber } from './exact-number.ts';
import type { Json, JsonArray, JsonObject } from './json-value.ts';
import { stringEnd } from './parse-exact.ts';
import { openBrace, openBracket } from '../ascii.ts';

/**
 * Finds the numbers that JavaScript may print differently: every number but plain integers of at most 15 digits and
 * fractions of at most 7 + 6 digits without a closing zero, which a double always gives back (15 significant digits,
 * and no exponent from 0.000001 up). A number stands behind `:`, `,` or `[` and before `,`, `}` or `]`; the same inside a
 * string is found too. No part can match the same text in two ways, so the search is linear.
 */
const doubtfulNumber =
  /[:,[][ \t\n\r]*(?!0[,}\]]|-?[1-9]\d{0,14}[,}\]]|-?\d{1,7}\.\d{0,5}[1-9][,}\]])(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=[ \t\n\r]*[,}\]])/g;

/** What stands behind a name, and behind no other string. */
const colonNext = /[ \t\n\r]*:/y;

/**
 * Parses JSON text by JSON.parse, with the numbers that it would change put into marked strings and taken out again: half
 * the time of a parser in JavaScript. Undefined where that cannot be done, for the text is no object or array, has such a number inside a
 * string, holds the mark itself, has a name with an escape or is not JSON.
 */
export function parseMarked(text: string): Json | undefined {
  const first = text.charCodeAt(0);
  if (first !== openBrace && first !== openBracket) return undefined;
  if (hasEscapedName(text)) return undefined;
  const { marked, count } = markNumbers(text);
  if (count > 0 && text.includes(mark)) return undefined;
  try {
    const value = JSON.parse(marked) as JsonArray | JsonObject;
    if (count > 0) unmarkNumbers(value, count);
    return value;
  } catch (error) {
    // A mark inside a string closes it, and its backslash can follow no string: such text is never well formed.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Whether a name holds an escape. JSON.parse of V8 12.8 and newer (Node 24, 26) may read such a name as one that it met before at that
 * place: after `{"\\":1}`, `{"\"":1}` has the name `\` (nodejs/node#63785).
 */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    // No backslash of JSON stands outside a string.
    const end = stringEnd(text, at);
    if (end < 0) return false;
    at = end + 1;
    colonNext.lastIndex = at;
    if (colonNext.test(text)) return true;
  }
  return false;
}

/** Begins a marked string: an escape, so that text without it holds no string that could pass for a marked one. */
const mark = '\\u0000';

function markNumbers(text: string): { marked: string; count: number } {
  let marked = '';
  let end = 0;
  let count = 0;
  doubtfulNumber.lastIndex = 0;
  for (let match = doubtfulNumber.exec(text); match !== null; match = doubtfulNumber.exec(text)) {
    const number = match[1] ?? '';
    if (number === String(Number(number))) continue;
    marked += `${text.slice(end, doubtfulNumber.lastIndex - number.length)}"${mark}${number}"`;
    end = doubtfulNumber.lastIndex;
    count += 1;
  }
  return { marked: count === 0 ? text : marked + text.slice(end), count };
}

/** Puts exact numbers in the place of that many marked strings. Keeps its own stack: the value may be deep. */
function unmarkNumbers(root: JsonArray | JsonObject, count: number): void {
  const containers = [root];
  let left = count;
  const exactOf = (member: Json | undefined): ExactNumber | undefined => {
    if (typeof member === 'string' && member.charCodeAt(0) === 0) {
      left -= 1;
      return new ExactNumber(member.slice(1));
    }
    if (typeof member === 'object' && member !== null) containers.push(member as JsonArray | JsonObject);
    return undefined;
  };
  for (let container = containers.pop(); container !== undefined && left > 0; container = containers.pop()) {
    if (Array.isArray(container)) {
      for (let at = 0; at < container.length; at += 1) container[at] = exactOf(container[at]) ?? container[at] ?? null;
    } else {
      for (const name of Object.keys(container)) {
        const exact = exactOf(container[name]);
        if (exact !== undefined) container[name] = exact;
      }
    }
  }
}
