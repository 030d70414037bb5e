import type { ByteScanner } from '../../lib/scan/split-lines.ts';
import type { EntryBlock } from '../entries.ts';
import { EntryBlocks } from './entry-blocks.ts';
import { checkText } from '../check-text.ts';
import { fingerprintInputs, type InputFingerprint } from '../fingerprint-inputs.ts';
import type { IdInput } from '../id-input.ts';
import type { ReadingListener } from './reading.ts';
import { inputBytes } from './input-bytes.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { readLines } from './read-lines.ts';

export interface ReadIdsOptions extends ReadingListener {
  /** Column or member that holds the id; without it `id`, else `mint`, else the first. */
  readonly column?: string | undefined;
  /** The fingerprints of the inputs, in the same order: what is read must still match them. */
  readonly expected?: readonly InputFingerprint[] | undefined;
  /** Told what was read of an input, at its end; for Parquet before. */
  readonly onFingerprint?: ((fingerprint: InputFingerprint) => void) | undefined;
  /** Told how many more bytes of the files, as they lie on disk, were read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Whoever reads only the beginning of each input says how many entries of it are enough. */
  readonly enough?: number | undefined;
}

/**
 * Reads all inputs as one stream, in blocks of about a thousand entries. Every entry is valid or invalid; duplicates are
 * marked later. Memory does not grow with the inputs.
 * @throws {ExportError} `input` when a file cannot be read, is not of its format, or changed.
 */
export async function* readIds(inputs: readonly IdInput[], options: ReadIdsOptions = {}): AsyncGenerator<EntryBlock> {
  for (const [source, input] of inputs.entries()) {
    const { column, onBytes, onFingerprint, enough } = options;
    const expected = options.expected?.[source];
    if (input.format === 'parquet') {
      // Its library takes a while to load, which lists of ids need not wait for.
      const { readParquet } = await import('./read-parquet.ts');
      if (onFingerprint !== undefined) for (const each of await fingerprintInputs([input])) onFingerprint(each);
      yield* readParquet(input, new EntryBlocks(input.name, source, options), { column, expected, onBytes, enough });
    } else {
      yield* readText(inputBytes(input, { expected, onBytes, onFingerprint }), { ...options, input, source });
    }
  }
}

export interface ReadTextOptions extends ReadingListener {
  readonly input: IdInput;
  /** Index of the input, in the order of reading. */
  readonly source: number;
  readonly column?: string | undefined;
}

/** Reads the entries of one text, of any format but Parquet. How its bytes are cut into pieces makes no difference. */
export async function* readText(
  bytes: AsyncIterable<Uint8Array>,
  { input, source, column, ...listener }: ReadTextOptions,
): AsyncGenerator<EntryBlock> {
  const entries = new EntryBlocks(input.name, source, listener);
  const reader = openReader(input, entries, column);
  for await (const piece of checkText(input, bytes)) {
    reader.push(piece);
    yield* entries.take();
  }
  reader.end();
  yield* entries.take(true);
}

function openReader(input: IdInput, entries: EntryBlocks, column: string | undefined): ByteScanner {
  switch (input.format) {
    case 'csv':
      return readCsv(input, entries, column);
    case 'json':
      return readJson(input, entries, column);
    case 'jsonl':
      return readJsonLines(input, entries, column);
    default:
      return readLines(entries);
  }
}
