import { type ByteScanner, splitLines } from '../../lib/scan/split-lines.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import type { IdInput } from '../id-input.ts';
import { jsonEntries, longestValue } from './json-entries.ts';

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
  return byte === 32 || byte === 9;
}
