import type { Column } from '../../../core/records/table.ts';
import type { Source } from '../../../exports/duckdb-files.ts';

/** A value and how many rows have it. */
export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** Rows with a number from `from` up to `to`; the last class of a histogram holds `to` as well. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface ColumnProfile {
  readonly name: string;
  readonly type: Column['type'];
  readonly filled: number;
  readonly emptyText: number;
  readonly distinct: number;
  /** Smallest and largest value as text, cut; null for JSON and columns without values. */
  readonly min: string | null;
  readonly max: string | null;
  /** Length of the longest text in characters; null where the column holds no text. */
  readonly longest: number | null;
  /** The most frequent values, cut; none where nearly each row has its own. */
  readonly top: readonly ValueCount[];
  /** Of numbers. */
  readonly bins: readonly Bin[];
  /** Whether the classes grow by a factor. */
  readonly isLogarithmic: boolean;
}

export interface TableProfile {
  readonly name: string;
  /** Rows that were read. */
  readonly rows: number;
  readonly columns: readonly ColumnProfile[];
}

/** A class of a histogram by its label. */
export interface LabelledCount {
  readonly label: string;
  readonly count: number;
}

export interface BooleanShare {
  readonly name: string;
  readonly yes: number;
  readonly no: number;
  readonly null: number;
}

export interface CollectionCount extends ValueCount {
  /** Null where the export holds none. */
  readonly name: string | null;
}

export interface Trait extends ValueCount {
  readonly distinct: number;
  readonly values: readonly ValueCount[];
}

/** The most frequent values, and how many others there are. */
export interface Ranking<T extends ValueCount = ValueCount> {
  readonly top: readonly T[];
  /** Values that are not listed, and the rows that have one. */
  readonly others: ValueCount & { readonly values: number };
  /** Rows without a value. */
  readonly without: number;
}

/** What the assets are; a card whose column or table the export lacks is absent. */
export interface AssetCards {
  readonly interfaces?: Ranking;
  readonly collections?: Ranking<CollectionCount>;
  readonly shares: readonly BooleanShare[];
  readonly jsonHosts?: Ranking;
  readonly imageHosts?: Ranking;
  readonly traits?: Ranking<Trait>;
  readonly royalty?: readonly LabelledCount[];
  readonly creatorsPerAsset?: readonly LabelledCount[];
  readonly creatorShare?: readonly LabelledCount[];
  readonly attributesPerAsset?: readonly LabelledCount[];
  readonly printSupply?: readonly LabelledCount[];
}

export interface DataProfile {
  /** The format that was read. */
  readonly format: string;
  readonly parts: { readonly read: number; readonly all: number };
  readonly tables: readonly TableProfile[];
  readonly cards: AssetCards;
}

/** The files of one table, all of one format. */
export interface ProfiledTable {
  readonly source: Source;
  readonly rows: number;
}

/** Counts what the tables of an export hold. Its numbers are exact, and the same for any number of threads. */
export interface ProfileSource {
  profile(tables: readonly ProfiledTable[]): Promise<Pick<DataProfile, 'tables' | 'cards'>>;
  close(): Promise<void>;
}
