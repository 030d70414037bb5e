import type { ByteScanner } from '../../../lib/scan/split-lines.ts';
import { Entries, type EntryBlock } from '../entries.ts';
import { EntryBlocks } from './entry-blocks.ts';
import {
  checkText,
  inputBytes,
  fingerprintInputs,
  type InputFingerprint,
  type InputBytesOptions,
} from './input-bytes.ts';
import { wordsPerHash } from '../../../lib/hash/hash-set-128.ts';
import type { IdInput } from '../id-input.ts';
import {
  type ReadingListener,
  type ListForm,
  type ListRules,
  type ParquetForm,
  entriesLookedAt,
  headBytes,
  type LookedAt,
  type ListSurvey,
  type SurveyOptions,
} from './list-form.ts';
import { ExportError } from '../../../lib/export-error.ts';

/** What a job says of its ids, as far as it decides which entries are read. */
export interface ReadingRules extends ListRules {
  /** Entries that are read at most, over all inputs. */
  readonly limit?: number | undefined;
  /** Entries that are drawn instead: about so many, or a share (`1%`). Those that are no ids are left out. */
  readonly sample?: string | undefined;
}

export interface ReadIdsOptions extends ReadingListener, ReadingRules {
  /** The fingerprints of the inputs, in the same order: what is read must still match them. */
  readonly expected?: readonly InputFingerprint[] | undefined;
  /** Told what was read of an input, at its end; before, for Parquet and where `limit` is given. */
  readonly onFingerprint?: ((fingerprint: InputFingerprint) => void) | undefined;
  /** Told before entries are handed out how many more bytes of the files, as they lie on disk, belong to them. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Reads all inputs as one stream, in blocks of about a thousand entries. Every entry is valid or invalid; duplicates are
 * marked later. Memory does not grow with the inputs.
 * @throws {ExportError} `input` when a file cannot be read, is no list, or changed.
 */
export async function* readIds(inputs: readonly IdInput[], options: ReadIdsOptions = {}): AsyncGenerator<EntryBlock> {
  const { limit, sample, onFingerprint } = options;
  if (sample !== undefined) {
    const { drawnOf } = await import('./sample.ts');
    yield* drawnOf(sample, (more) => readIds(inputs, { ...options, sample: undefined, ...more }));
    return;
  }
  if (limit === undefined) {
    for (const [source, input] of inputs.entries()) yield* readOne(input, source, options);
    return;
  }
  if (onFingerprint !== undefined) for (const each of await fingerprintInputs(inputs)) onFingerprint(each);
  let left = limit;
  for (const [source, input] of inputs.entries()) {
    for await (const block of readOne(input, source, { ...options, onFingerprint: undefined }, left)) {
      const { length } = block.entries;
      yield length <= left ? block : beginningOf(block, left);
      left -= length;
      if (left <= 0) return;
    }
  }
}

/** @param source index of the input, in the order of reading @param enough entries that are enough, of those at the beginning */
async function* readOne(
  input: IdInput,
  source: number,
  options: ReadIdsOptions,
  enough?: number,
): AsyncGenerator<EntryBlock> {
  const { onBytes, onFingerprint } = options;
  const expected = options.expected?.[source];
  const form = input.form ?? (await lookAtList(input, { ...options, expected }));
  if (form.kind !== 'parquet') {
    const ahead = new BytesAhead(onBytes);
    const bytes = inputBytes(input, { expected, onBytes: ahead.add, onFingerprint });
    yield* readText(bytes, { ...options, input, source, form, ahead });
    return;
  }
  const { readParquetIds } = await import('./read-parquet.ts');
  if (onFingerprint !== undefined) for (const each of await fingerprintInputs([input])) onFingerprint(each);
  yield* readParquetIds(input, new EntryBlocks(input.name, source, options), { form, expected, onBytes, enough });
}

/** The first entries of a block, which is longer. */
function beginningOf({ entries, hashes }: EntryBlock, length: number): EntryBlock {
  const beginning = Entries.take(length);
  beginning.append(entries, 0, length);
  return { entries: beginning, hashes: hashes.subarray(0, wordsPerHash * entries.validBetween(0, length)) };
}

/** Bytes that were read, of entries that are not handed out: one piece of a file holds those of several blocks. */
class BytesAhead {
  readonly #onBytes: ReadIdsOptions['onBytes'];
  #bytes = 0;

  constructor(onBytes?: ReadIdsOptions['onBytes']) {
    this.#onBytes = onBytes;
  }

  readonly add = (bytes: number): void => {
    this.#bytes += bytes;
  };

  /** Reports the bytes of some of the entries that they hold. */
  report(entries: number, of: number): void {
    const share = Math.floor((this.#bytes * entries) / of);
    this.#bytes -= share;
    this.#onBytes?.(share);
  }
}

export interface ReadTextOptions extends ReadingListener, ListRules {
  readonly input: IdInput;
  /** Index of the input, in the order of reading. */
  readonly source: number;
  readonly form: Exclude<ListForm, ParquetForm>;
  readonly ahead?: BytesAhead;
}

/** Reads the entries of one text, of any format but Parquet. How its bytes are cut into pieces makes no difference. */
export async function* readText(
  bytes: AsyncIterable<Uint8Array>,
  { input, source, form, outcome, ahead = new BytesAhead(), ...listener }: ReadTextOptions,
): AsyncGenerator<EntryBlock> {
  const entries = new EntryBlocks(input.name, source, listener);
  const reader = await openReader(input.name, entries, { form, outcome });
  for await (const piece of checkText(input, bytes)) {
    reader.push(piece);
    yield* handedOut(entries, ahead, false);
  }
  reader.end();
  yield* handedOut(entries, ahead, true);
}

/** The blocks that are full, at the end of the text also the last one, and their bytes. */
function* handedOut(entries: EntryBlocks, ahead: BytesAhead, isEnd: boolean): Generator<EntryBlock> {
  // Another entry may be under way: only the end of the text shows all bytes.
  let left = entries.length + (isEnd ? 0 : 1);
  for (const block of entries.take(isEnd)) {
    const { length } = block.entries;
    ahead.report(length, left);
    left -= length;
    yield block;
  }
  if (isEnd) ahead.report(1, 1);
}

async function openReader(
  input: string,
  entries: EntryBlocks,
  { form, outcome }: Pick<ReadTextOptions, 'form' | 'outcome'>,
): Promise<ByteScanner> {
  switch (form.kind) {
    case 'csv': {
      const { readCsv } = await import('./read-csv.ts');
      return readCsv(input, entries, form, outcome);
    }
    case 'json':
    case 'jsonl': {
      const { readJson } = await import('./read-json.ts');
      return readJson(input, entries, form);
    }
    default: {
      const { readLines, readWords } = await import('./read-lines.ts');
      return form.kind === 'words' ? readWords(entries) : readLines(input, entries);
    }
  }
}

/** How exactly it is known where the entries that are looked at end, in bytes. */
const stepBytes = 2048;

/**
 * Sees by its beginning how the ids of an input are found. A text that begins like JSON is JSON, whatever its name says.
 * @throws {ExportError} `input` when none of its first 1,000 entries is an id, or it is not clear which column has them
 */
export async function lookAtList(input: IdInput, rules: LookingRules): Promise<ListForm> {
  return (await surveyList(input, rules)).form;
}

type LookingRules = ListRules & Pick<InputBytesOptions, 'expected'>;

/** The same, and how much was read for it. @throws {ExportError} as `lookAtList` */
export async function surveyList(
  input: IdInput,
  rules: LookingRules,
): Promise<{
  readonly form: ListForm;
  /** How far it was read, decompressed; absent for Parquet. */
  readonly looked?: LookedAt;
}> {
  if (input.format === 'parquet') {
    const { surveyParquet } = await import('./read-parquet.ts');
    return { form: await surveyParquet(input, rules.column) };
  }
  let bytes = 0;
  let head = Buffer.alloc(0);
  let survey: ListSurvey | undefined;
  let hasMore = false;
  const push = (to: ListSurvey, piece: Uint8Array): void => {
    for (let from = 0; from < piece.length; from += stepBytes) {
      const step = piece.subarray(from, from + stepBytes);
      if (to.entries < entriesLookedAt) bytes += step.length;
      to.push(step);
    }
  };
  const begin = async (): Promise<ListSurvey> => {
    requireNoArchive(input.name, head);
    const begun = await openSurvey(input, { ...rules, input: input.name, head });
    push(begun, head);
    return begun;
  };
  for await (const piece of checkText(input, inputBytes(input, { expected: rules.expected }))) {
    if (survey === undefined) {
      head = Buffer.concat([head, piece]);
      if (head.length >= headBytes) survey = await begin();
    } else push(survey, piece);
    hasMore = survey !== undefined && survey.entries >= entriesLookedAt;
    if (hasMore) break;
  }
  survey ??= await begin();
  if (!hasMore) survey.end();
  const { entries } = survey;
  return { form: await survey.form(), looked: { entries, bytes, isWhole: entries < entriesLookedAt } };
}

/** @throws {ExportError} `input` for a tar archive: lines of the files in it would be read, and its heads not */
function requireNoArchive(input: string, head: Buffer): void {
  if (head.toString('latin1', 257, 262) !== 'ustar') return;
  throw new ExportError('input', `${input} is a tar archive, not text`, {
    todo: 'Unpack it, and name the files in it.',
  });
}

/** Each kind of list loads what reads it: most lists are lines. */
async function openSurvey({ format }: IdInput, options: SurveyOptions): Promise<ListSurvey> {
  const first = options.head.toString('latin1').trimStart().charAt(0);
  if (first === '[' || first === '{' || format === 'json' || format === 'jsonl') {
    const { surveyJson } = await import('./survey-json.ts');
    return surveyJson(options);
  }
  if (format === 'csv') {
    const { surveyCsv } = await import('./read-csv.ts');
    return surveyCsv(options);
  }
  const { surveyLines } = await import('./read-lines.ts');
  return surveyLines(options);
}
