import type { ByteScanner } from '../../../lib/scan/split-lines.ts';

/** The column, or the member of objects, that the ids of an input are read from. */
export interface TakenColumn {
  /** Name of the input. */
  readonly input: string;
  readonly column: string;
  /** True when the user named none and no name is known: it is the only one that has ids. */
  readonly guessed: boolean;
}

/** An entry that is not an id. */
export interface InvalidSample {
  /** `ids.csv:12` */
  readonly at: string;
  /** What stands there, at most 200 characters. */
  readonly text: string;
  readonly reason: string;
}

/** What is reported while ids are read. */
export interface ReadingListener {
  readonly onInvalid?: ((sample: InvalidSample) => void) | undefined;
}

/** So many show what is wrong with a list. */
export const mostSamples = 3;

/** Keeps the first invalid entries. */
export function sampling(samples: InvalidSample[]): (sample: InvalidSample) => void {
  return (sample) => {
    if (samples.length < mostSamples) samples.push(sample);
  };
}

/** A sample in one line. */
export function sampleText({ at, text, reason }: InvalidSample): string {
  return `${at}: ${JSON.stringify(text)}: ${reason}`;
}

/** How the ids of an input are found: decided once, by its first bytes and its first 1,000 entries. */
export type ListForm = ({ readonly kind: 'lines' | 'words' } | CsvForm | JsonForm | ParquetForm) & {
  /** The column that the ids come from; absent where a file has none. */
  readonly taken?: TakenColumn | undefined;
};

export interface CsvForm {
  readonly kind: 'csv';
  /** Code of the character between cells. */
  readonly delimiter: number;
  /** Rows before the first entry: a header, and the line `sep=` of a spreadsheet. */
  readonly skippedRows: number;
  /** Place of the column with the id, from 0. */
  readonly column: number;
  /** Of a file from `unexported/`: place of the column with the outcome. */
  readonly outcome?: number;
}

export interface JsonForm {
  /** `jsonl`: a value a line. `json`: arrays, or objects that follow one another. */
  readonly kind: 'json' | 'jsonl';
  /** Whether arrays in an array are lists, too. */
  readonly opensInner: boolean;
  /** The members that hold the id: of each object the first that it has. */
  readonly members: readonly string[];
}

export interface ParquetForm {
  readonly kind: 'parquet';
  readonly column: string;
}

/** What the user says of the lists, and what else decides which entries are read. */
export interface ListRules {
  /** Column or member that holds the id. */
  readonly column?: string | undefined;
  /** Outcomes that are read of files from `unexported/`; the others are no entries. Default: `outcomesToRead`. */
  readonly outcome?: readonly string[] | undefined;
}

/** How much of a text was read to see what it is. */
export interface LookedAt {
  readonly entries: number;
  /** That these entries take, decompressed. */
  readonly bytes: number;
  /** Whether that was all. */
  readonly isWhole: boolean;
}

/** So many entries of an input show what it is. */
export const entriesLookedAt = 1000;

/** How much of a text is looked at to see how it is cut, in bytes. */
export const headBytes = 65_536;

/** Reads the beginning of an input to see what it is. */
export interface ListSurvey extends ByteScanner {
  /** Entries so far. */
  readonly entries: number;
  /** What they show, when enough are read. @throws {ExportError} `input` when it is no list of ids, or two lists */
  form(): Promise<ListForm>;
}

/** The first entries of a list that are not ids. */
export interface Sample {
  readonly line: number;
  readonly text: string;
}

/** A longer one is no row of a table, but a piece of a list. */
const longestRow = 20;

/** Whether lines or arrays of so many ids look like the rows of a table: several, and all equally long. */
export function areRows(lengths: readonly number[]): boolean {
  const [first = 0] = lengths;
  return lengths.length > 1 && first > 1 && first <= longestRow && lengths.every((length) => length === first);
}

/** What a survey is made for. */
export interface SurveyOptions extends ListRules {
  /** Name of the input. */
  readonly input: string;
  /** The first bytes of the text. */
  readonly head: Buffer;
}
