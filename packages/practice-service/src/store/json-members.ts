import {
  carriageReturn,
  closeBrace,
  closeBracket,
  comma,
  lineFeed,
  openBrace,
  openBracket,
  space,
  tab,
} from '../../../../src/lib/ascii.ts';
import { closingQuote, jsonEnd } from '../../../../src/lib/scan/json-scanner.ts';

/** Bytes from `start` up to, not including, `end`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** One member of an object in JSON text; its range runs from the opening quote of the key to the end of the value. */
export interface JsonMember extends JsonSpan {
  readonly key: string;
  readonly value: JsonSpan;
}

/** The members of the object that opens at `at`, in order. The bytes must be valid JSON: nothing is checked here. */
export function membersOf(json: Buffer, at: number): JsonMember[] {
  const members: JsonMember[] = [];
  let next = skipBlanks(json, at + 1);
  while (json[next] !== closeBrace) {
    const start = next;
    const keyEnd = closingQuote(json, start + 1) + 1;
    const valueStart = skipBlanks(json, skipBlanks(json, keyEnd) + 1);
    const end = jsonEnd(json, valueStart);
    members.push({ key: keyText(json, start, keyEnd), start, end, value: { start: valueStart, end } });
    next = afterComma(json, end);
  }
  return members;
}

/** The elements of the array that opens at `at`, in order. */
export function elementsOf(json: Buffer, at: number): JsonSpan[] {
  const elements: JsonSpan[] = [];
  let next = skipBlanks(json, at + 1);
  while (json[next] !== closeBracket) {
    const end = jsonEnd(json, next);
    elements.push({ start: next, end });
    next = afterComma(json, end);
  }
  return elements;
}

/** What to cut so that the chosen members are gone and commas stay right; the ranges never overlap. */
export function cutsOf(members: readonly JsonMember[], isCut: (member: JsonMember) => boolean): JsonSpan[] {
  const cuts: JsonSpan[] = [];
  let keptBefore = false;
  members.forEach((member, index) => {
    const previous = members[index - 1];
    if (!isCut(member)) keptBefore = true;
    else if (keptBefore && previous !== undefined) cuts.push({ start: previous.end, end: member.end });
    else cuts.push({ start: member.start, end: members[index + 1]?.start ?? member.end });
  });
  return cuts;
}

export function startsObject(json: Buffer, at: number): boolean {
  return json[at] === openBrace;
}

export function startsArray(json: Buffer, at: number): boolean {
  return json[at] === openBracket;
}

/** The first byte at or after `at` that is not a JSON blank. */
export function skipBlanks(json: Buffer, at: number): number {
  let next = at;
  for (
    let byte = json[next];
    byte === space || byte === tab || byte === lineFeed || byte === carriageReturn;
    byte = json[next]
  )
    next += 1;
  return next;
}

function afterComma(json: Buffer, at: number): number {
  const next = skipBlanks(json, at);
  return json[next] === comma ? skipBlanks(json, next + 1) : next;
}

function keyText(json: Buffer, start: number, end: number): string {
  const text = json.toString('utf8', start, end);
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}
