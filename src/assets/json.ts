import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** A JSON value in which a number that JavaScript would change (u64, `1e400`, `1.0`, `-0`) is a `LosslessNumber`. */
export type Json = string | number | boolean | null | LosslessNumber | JsonArray | JsonObject;
export type JsonArray = Json[];
export interface JsonObject {
  [key: string]: Json;
}

export { isLosslessNumber, LosslessNumber };

/** A number text that may not survive JSON.parse and String(): long, with an exponent, a trailing zero, or -0. */
const suspect = /-?\d[\d.]*(?:\d{16}|[eE][+-]?\d|\.\d*0(?!\d)|\d{15}\.\d|\.\d{15})[\d.]*(?:[eE][+-]?\d+)?|-0(?![\d.])/g;

/** Parses JSON text without changing a digit. @throws {SyntaxError} when the text is not JSON. */
export function parseJson(text: string): Json {
  return keepsDigits(text) ? (JSON.parse(text) as Json) : (parse(text, undefined, exactNumber) as Json);
}

/** JSON text of a value, on one line; numbers come out digit for digit, lone surrogates as escapes. */
export function stringifyJson(value: Json): string {
  return stringify(value) ?? 'null';
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** True when every number in the text is printed by JavaScript just as it stands there. */
function keepsDigits(text: string): boolean {
  suspect.lastIndex = 0;
  for (let match = suspect.exec(text); match !== null; match = suspect.exec(text)) {
    if (String(Number(match[0])) !== match[0]) return false;
  }
  return true;
}

function exactNumber(text: string): number | LosslessNumber {
  const value = Number(text);
  return String(value) === text ? value : new LosslessNumber(text);
}
