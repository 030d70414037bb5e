import { type ByteSpan, type ByteScanner, splitLines } from '../../../lib/scan/split-lines.ts';
import {
  carriageReturn,
  closeBrace,
  closeBracket,
  colon,
  comma,
  lineFeed,
  openBrace,
  openBracket,
  quote,
  space,
  tab,
} from '../../../lib/ascii.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { jsonEnd } from '../../../lib/scan/json-scanner.ts';
import { scanJson } from '../../../lib/scan/scan-json.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import type { JsonForm } from './list-form.ts';

/** Longest JSON value that is read, in bytes: far above the largest record that occurs. */
const longestValue = 16 * 1_048_576;

/** One JSON value of a list. */
export interface JsonValue {
  /** As it stands. */
  readonly text: string;
  /** Undefined when it is not JSON. */
  readonly value: unknown;
  readonly line: number;
}

/** Reads JSON arrays and objects, or lines of JSON values. @throws {ExportError} `input` for an array or object without an end */
export function readJson(input: string, entries: EntryBlocks, form: JsonForm): ByteScanner {
  const { members } = form;
  return scanJsonList(input, form, (span) => {
    const { bytes, start, end, line } = span;
    if (span.cut) {
      const beginning = bytes.toString('utf8', start, start + 1000);
      entries.addInvalid(beginning, line, `a value of more than ${longestValue} bytes`);
      return;
    }
    if (bytes[start] === quote && bytes[end - 1] === quote && entries.findId(bytes, start + 1, end - 1)) {
      entries.addFound(line);
      return;
    }
    for (const each of valuesOf(span)) addValue(entries, each, members);
  });
}

function addValue(entries: EntryBlocks, { text, value, line }: JsonValue, members: readonly string[]): void {
  if (typeof value === 'string') {
    if (!entries.addText(value, line)) entries.addInvalid('', line, 'an empty string');
  } else if (isObject(value)) addObject(entries, value, line, members);
  // The id of 32 ones is all digits, and some programs write it as a number or leave out the quotes.
  else if (value === undefined || typeof value === 'number') entries.addText(text, line);
  else entries.addInvalid(text, line, `${kindOf(value)} where an id or an object was expected`);
}

function addObject(entries: EntryBlocks, value: object, line: number, members: readonly string[]): void {
  const name = members.find((member) => Object.hasOwn(value, member));
  if (name === undefined) {
    const isEmpty = Object.keys(value).length === 0;
    const [first = 'id'] = members;
    entries.addInvalid('', line, isEmpty ? 'an empty object' : `no member "${first}"`);
    return;
  }
  const id: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  if (typeof id !== 'string') entries.addInvalid('', line, `${kindOf(id)} in "${name}", not a string`);
  else if (!entries.addText(id, line)) entries.addInvalid('', line, `nothing in "${name}"`);
}

/** True for objects that are no arrays. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The value of a span, or several objects that follow one another on a line. */
export function valuesOf(span: ByteSpan): JsonValue[] {
  const { bytes, start, end, line } = span;
  const text = bytes.toString('utf8', start, end);
  const value = parsed(text);
  if (value !== undefined || bytes[start] !== openBrace) return [{ text, value, line }];
  const whole = bytes.subarray(0, end);
  const several: JsonValue[] = [];
  let at = start;
  while (at >= 0 && whole[at] === openBrace) {
    const next = jsonEnd(whole, at);
    const each = bytes.toString('utf8', at, next < 0 ? end : next);
    several.push({ text: each, value: parsed(each), line });
    at = next < 0 ? next : behindBlanks(whole, next, comma);
  }
  const areSeveral = at === end && several.length > 1 && several.every((each) => each.value !== undefined);
  return areSeveral ? several : [{ text, value, line }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Cuts the values of a list out of JSON.
 * @param onArray called at the end of each array, with the number of its elements
 * @throws {ExportError} `input`
 */
export function scanJsonList(
  input: string,
  { kind, opensInner }: Pick<JsonForm, 'kind' | 'opensInner'>,
  onSpan: (span: ByteSpan) => void,
  onArray?: (elements: number) => void,
): ByteScanner {
  if (kind === 'jsonl') {
    return splitLines({
      longest: longestValue,
      onLine(span) {
        inLine(span, onSpan);
      },
    });
  }
  return scanJson({
    longest: longestValue,
    opensInner,
    onElement: onSpan,
    ...(onArray === undefined ? {} : { onArray }),
    fault: (why, line) =>
      new ExportError('input', `${input}:${line} is not a list in JSON: ${why}`, {
        todo: 'Use one array of ids, or --ids-format jsonl for one value per line.',
      }),
  });
}

function inLine(span: ByteSpan, onSpan: (span: ByteSpan) => void): void {
  while (span.start < span.end && isBlank(span.bytes[span.start])) span.start += 1;
  while (span.start < span.end && isBlank(span.bytes[span.end - 1])) span.end -= 1;
  if (span.start < span.end) onSpan(span);
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** How JSON lists are cut, by the first bytes of the text: an array, objects that follow one another, or a value a line. */
export function jsonLayout(head: Buffer): Pick<JsonForm, 'kind' | 'opensInner'> {
  const first = behindBlanks(head, 0);
  if (head[first] === openBracket) {
    return { kind: 'json', opensInner: head[behindBlanks(head, first + 1)] === openBracket };
  }
  const areLines = head[first] !== openBrace || areOnLines(head, first);
  return { kind: areLines ? 'jsonl' : 'json', opensInner: false };
}

/** Whether the first object ends on its line, with no comma and no other behind it. One that is no JSON spoils its line alone. */
function areOnLines(head: Buffer, start: number): boolean {
  const end = jsonEnd(head, start);
  const breakAt = head.subarray(start).findIndex((byte) => byte === lineFeed || byte === carriageReturn);
  const lineEnd = breakAt < 0 ? head.length : start + breakAt;
  if (end < 0 || end > lineEnd) return breakAt < 0 || !goesOn(head, start, lineEnd);
  const next = behindBlanks(head, end);
  return head[next] !== comma && (next >= lineEnd || head[next] !== openBrace);
}

/** Whether an object goes on behind a line break as indented JSON does. */
function goesOn(head: Buffer, start: number, lineEnd: number): boolean {
  const line = head.toString('utf8', start, lineEnd).trimEnd();
  const isInString = line.replaceAll(/\\./g, '').split('"').length % 2 === 0;
  if (isInString) return false;
  return /[{[,:]$/.test(line) || closing.includes(head[behindBlanks(head, lineEnd)] ?? 0);
}

const closing: readonly number[] = [closeBrace, closeBracket, comma, colon];

/** The index of the first byte from `start` on that is neither blank nor a line break, nor the byte that may stand between. */
function behindBlanks(bytes: Uint8Array, start: number, between = space): number {
  let at = start;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (!isBlank(byte) && byte !== lineFeed && byte !== carriageReturn && byte !== between) break;
  }
  return at;
}
