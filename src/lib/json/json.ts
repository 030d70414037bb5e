import { backslash, closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote, space } from '../ascii.ts';

/**
 * A JSON value. A number that JavaScript would print differently (u64, `1e400`, `1.0`, `-0`) is an `ExactNumber`.
 * An object's members are all its own, `__proto__` too: read them by known names or with `Object.entries`.
 */
export type Json = string | number | boolean | null | ExactNumber | JsonArray | JsonObject;
export type JsonArray = Json[];
export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Sets an own member whatever its name: assigning `__proto__` would set the prototype instead. */
export function setMember(object: JsonObject, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else object[name] = value;
}

/** Sets a member of an object within objects; those that are missing are made. */
export function setMemberAt(object: JsonObject, path: readonly string[], value: Json): void {
  let inner = object;
  for (const name of path.slice(0, -1)) {
    const member = inner[name];
    const branch = isJsonObject(member) ? member : {};
    inner[name] = branch;
    inner = branch;
  }
  setMember(inner, path.at(-1) ?? '', value);
}

/**
 * A JSON number that JavaScript would print differently from how it came (u64, `1e400`, `1.0`, `-0`): it keeps its text.
 * Recognised with `instanceof`: no member of a hostile record can pass for one.
 */
export class ExactNumber {
  /** The number as it stood in the JSON text. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** JSON.stringify cannot print it: here it is a marked string within `stringifyMarked`, else the nearest number. */
  toJSON(): number | string {
    if (marks === undefined) return Number(this.text);
    marks += 1;
    return `\0${this.text}`;
  }
}

/** How many exact numbers the JSON.stringify that is running has met; undefined when none runs. */
let marks: number | undefined;

/** JSON text of a value, its exact numbers printed as strings that begin with NUL; and how many there are. */
export function stringifyMarked(value: unknown): { text: string; count: number } {
  marks = 0;
  try {
    const text = JSON.stringify(value);
    return { text, count: marks };
  } finally {
    marks = undefined;
  }
}

/** A number of a JSON text: a JavaScript number where it is printed back as it came, else exact. */
export function numberOf(text: string): number | ExactNumber {
  const value = Number(text);
  return String(value) === text ? value : new ExactNumber(text);
}

/** The digits of a number as JSON writes them. */
export function numberText(value: number | ExactNumber): string {
  if (value instanceof ExactNumber) return value.text;
  return Object.is(value, -0) ? '-0' : String(value);
}

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

/** A container on its way out: its members' names (none in an array) and the place of the next one. */
interface Frame {
  readonly container: JsonArray | JsonObject;
  readonly names: readonly string[] | undefined;
  readonly length: number;
  next: number;
}

/** JSON text of a value with exact numbers in it, or too deep for JSON.stringify; else the same text as its. */
export function stringifyExact(value: Json): string {
  const pieces: string[] = [];
  const frames: Frame[] = [];

  function print(member: Json): void {
    if (typeof member !== 'object' || member === null) pieces.push(scalarText(member));
    else if (member instanceof ExactNumber) pieces.push(member.text);
    else {
      frames.push(frameOf(member));
      pieces.push(Array.isArray(member) ? '[' : '{');
    }
  }

  print(value);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { container, names, next } = frame;
    if (next === frame.length) {
      frames.pop();
      pieces.push(names === undefined ? ']' : '}');
      continue;
    }
    frame.next += 1;
    if (next > 0) pieces.push(',');
    if (Array.isArray(container)) print(container[next] ?? null);
    else {
      const name = names?.[next] ?? '';
      pieces.push(JSON.stringify(name), ':');
      print(container[name] ?? null);
    }
  }
  return pieces.join('');
}

function scalarText(value: string | number | boolean | null): string {
  return typeof value === 'number' ? numberText(value) : JSON.stringify(value);
}

function frameOf(container: JsonArray | JsonObject): Frame {
  if (Array.isArray(container)) return { container, names: undefined, length: container.length, next: 0 };
  const names = Object.keys(container);
  return { container, names, length: names.length, next: 0 };
}

/** What a token of one character begins or ends; commas, colons and blanks say nothing that the others do not. */

/** A number, `true`, `false` or `null`: runs up to what may follow a value. */
const scalar = /[^\s,\]}]+/y;

/**
 * Parses JSON text known to be well formed (JSON.parse has taken it), with numbers kept exactly. Keeps its own stack, so
 * that depth is bounded by memory alone.
 */
export function parseExact(text: string): Json {
  const parents: (JsonArray | JsonObject)[] = [];
  const root: JsonArray = [];
  let parent: JsonArray | JsonObject = root;
  let key: string | undefined;
  let at = 0;

  function add(value: Json): void {
    if (Array.isArray(parent)) parent.push(value);
    else if (key !== undefined) setMember(parent, key, value);
    key = undefined;
  }
  function open(value: JsonArray | JsonObject): void {
    add(value);
    parents.push(parent);
    parent = value;
  }

  while (at < text.length) {
    const code = text.charCodeAt(at);
    at += 1;
    if (code === openBrace) open({});
    else if (code === openBracket) open([]);
    else if (code === closeBrace || code === closeBracket) parent = parents.pop() ?? root;
    else if (code === quote) {
      const end = stringEnd(text, at);
      const string = stringOf(text, at, end);
      if (key === undefined && !Array.isArray(parent)) key = string;
      else add(string);
      at = end + 1;
    } else if (code > space && code !== comma && code !== colon) {
      scalar.lastIndex = at - 1;
      const word = scalar.exec(text)?.[0] ?? '';
      add(scalarOf(word));
      at += word.length - 1;
    }
  }
  return root[0] ?? null;
}

function scalarOf(word: string): Json {
  if (word === 'true') return true;
  if (word === 'false') return false;
  return word === 'null' ? null : numberOf(word);
}

/**
 * Where the string is closed that starts at `start`, or has a whole character there: at the first quote with an even number of
 * backslashes before it; -1 where none comes, which JSON has not.
 */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (before >= start && text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}

function stringOf(text: string, start: number, end: number): string {
  const inside = text.slice(start, end);
  return inside.includes('\\') ? (JSON.parse(`"${inside}"`) as string) : inside;
}

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

/** Deeper values are taken from nobody: warehouses keep a stack for each level. */
export const mostJsonDepth = 1000;

/** Whether JSON that lies in these bytes is nested deeper than `mostJsonDepth`. */
export function isTooDeep(bytes: Uint8Array, start: number, end: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === quote) inString = !inString;
    else if (inString) at += byte === backslash ? 1 : 0;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > mostJsonDepth) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}
