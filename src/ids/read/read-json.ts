import { type ByteSpan, type ByteScanner, splitLines } from '../../lib/scan/split-lines.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import type { IdInput } from '../id-input.ts';
import { missingColumn, pickColumn } from './pick-column.ts';
import { quote, space, tab } from '../../lib/ascii.ts';
import { ExportError } from '../../lib/export-error.ts';
import { scanJsonArray } from '../../lib/scan/scan-json-array.ts';

/** Longest JSON value that is read, in bytes: far above the largest record that occurs. */
const longestValue = 16 * 1_048_576;

/**
 * Turns JSON values, strings or objects with the id as a member, into entries.
 * @throws {ExportError} `input` when the first object lacks the member that the user named; in later ones it is invalid.
 */
function jsonEntries(input: IdInput, entries: EntryBlocks, column: string | undefined): (span: ByteSpan) => void {
  let isFirst = true;

  const addObject = (value: object, line: number): void => {
    const names = Object.keys(value);
    const picked = pickColumn(names, column);
    if (picked === undefined && column !== undefined && isFirst) {
      throw missingColumn(`${input.name}:${line}`, column, names);
    }
    if (isFirst && picked !== undefined) entries.takeColumn(names, picked, column);
    isFirst = false;
    const name = names[picked ?? -1];
    if (name === undefined) {
      entries.addInvalid('', line, column === undefined ? 'an empty object' : `no member "${column}"`);
      return;
    }
    const id: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
    if (typeof id !== 'string') entries.addInvalid('', line, `${kindOf(id)} in "${name}", not a string`);
    else if (!entries.addText(id, line)) entries.addInvalid('', line, `nothing in "${name}"`);
  };

  return (span) => {
    const { bytes, start, end, line } = span;
    if (span.cut) {
      entries.addInvalid(
        bytes.toString('utf8', start, start + 1000),
        line,
        `a value of more than ${longestValue} bytes`,
      );
      return;
    }
    if (bytes[start] === quote && bytes[end - 1] === quote && entries.findId(bytes, start + 1, end - 1)) {
      entries.addFound(line);
      return;
    }
    const text = bytes.toString('utf8', start, end);
    const value = parsed(text);
    if (typeof value === 'string') {
      if (!entries.addText(value, line)) entries.addInvalid('', line, 'an empty string');
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) addObject(value, line);
    // The id of 32 ones is all digits, and some programs write it as a number or leave out the quotes.
    else if (value === undefined || typeof value === 'number') entries.addText(text, line);
    else entries.addInvalid(text, line, `${kindOf(value)} where an id or an object was expected`);
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Reads one JSON array of strings, or of objects that hold the id. @throws {ExportError} `input` for any other text. */
export function readJson(input: IdInput, entries: EntryBlocks, column: string | undefined): ByteScanner {
  return scanJsonArray({
    longest: longestValue,
    onElement: jsonEntries(input, entries, column),
    fault: (why, line) =>
      new ExportError('input', `${input.name}:${line} is not a JSON array: ${why}`, {
        todo: 'Use one array of ids, or --ids-format jsonl for one value per line.',
      }),
  });
}

/** Reads a JSON string, or an object that holds the id, from each line. */
export function readJsonLines(input: IdInput, entries: EntryBlocks, column: string | undefined): ByteScanner {
  const add = jsonEntries(input, entries, column);
  return splitLines({
    longest: longestValue,
    onLine(span) {
      while (span.start < span.end && isBlank(span.bytes[span.start])) span.start += 1;
      while (span.start < span.end && isBlank(span.bytes[span.end - 1])) span.end -= 1;
      if (span.start < span.end) add(span);
    },
  });
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}
