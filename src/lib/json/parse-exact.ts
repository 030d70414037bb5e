import { numberOf } from './exact-number.ts';
import { setMember, type Json, type JsonArray, type JsonObject } from './json-value.ts';
import { backslash, closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote, space } from '../ascii.ts';

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
