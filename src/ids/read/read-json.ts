import { ExportError } from '../../lib/export-error.ts';
import { scanJsonArray } from '../../lib/scan/scan-json-array.ts';
import type { ByteScanner } from '../../lib/scan/split-lines.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import type { IdInput } from '../id-input.ts';
import { jsonEntries, longestValue } from './json-entries.ts';

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
