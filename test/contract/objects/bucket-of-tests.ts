import { createHash } from 'node:crypto';

/** How a bucket behaves all the time. */
export interface BucketWays {
  /** Ignores conditions. */
  overwrites: boolean;
  /** Compares tags without their quotes. */
  bareTags: boolean;
  /** Names in a page of a listing. */
  pageSize: number;
  /** How far its clock is ahead of ours. */
  aheadMs: number;
  /** How far the clock that signatures are compared with is ahead of ours. */
  skewMs: number;
  /** So many reads find nothing yet. */
  late: number;
  /** Makes a page of a listing wrong. */
  bend: (page: PageOfTests, isFirst: boolean) => PageOfTests;
}

export interface PageOfTests {
  readonly keys: readonly string[];
  /** The token of the next page. */
  readonly next: string | undefined;
  readonly isTruncated: boolean;
  readonly keyCount: number;
}

export interface Stored {
  readonly bytes: Buffer;
  readonly sha256: string | undefined;
  /** Another one with each put of other bytes. */
  readonly tag: string;
  /** Another one with each put. */
  readonly generation: string;
}

export const usualWays: BucketWays = {
  overwrites: false,
  bareTags: false,
  pageSize: 1000,
  aheadMs: 0,
  late: 0,
  skewMs: 0,
  bend: (page) => page,
};

/** A bucket in memory, whichever protocol serves it. */
export class BucketOfTests {
  readonly objects = new Map<string, Stored>();
  readonly ways: BucketWays = { ...usualWays };
  #puts = 0;

  put(key: string, bytes: Buffer, sha256: string | undefined): Stored {
    this.#puts += 1;
    const tag = `"${createHash('md5').update(bytes).digest('hex')}"`;
    // As many digits as those of Google Cloud Storage.
    const stored = { bytes, sha256, tag, generation: String(1_700_000_000_000_000 + this.#puts) };
    this.objects.set(key, stored);
    return stored;
  }

  /** A page of sorted keys after `after`. */
  page(prefix: string, after: string): PageOfTests {
    const all = [...this.objects.keys()].sort().filter((key) => key.startsWith(prefix) && key > after);
    const keys = all.slice(0, this.ways.pageSize);
    const isTruncated = all.length > keys.length;
    const next = isTruncated ? keys.at(-1) : undefined;
    return this.ways.bend({ keys, next, isTruncated, keyCount: keys.length }, after === '');
  }
}

/** Keys of a listing by its prefix and delimiter: of objects, and of folders, which stand for all objects in them. */
export function groupedKeys(
  keys: readonly string[],
  query: URLSearchParams,
): { readonly objects: readonly string[]; readonly folders: readonly string[] } {
  if (query.get('delimiter') === null) return { objects: keys, folders: [] };
  const start = (query.get('prefix') ?? '').length;
  const isWithin = (key: string): boolean => key.includes('/', start);
  const folders = keys.filter(isWithin).map((key) => key.slice(0, key.indexOf('/', start) + 1));
  return { objects: keys.filter((key) => !isWithin(key)), folders: [...new Set(folders)] };
}

/** The part of an object that a Range header names; all of it without one. */
export function rangeOf(
  { bytes }: Stored,
  range: string | undefined,
): { readonly status: number; readonly body: Buffer } {
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const body = bytes.subarray(Number(from), to === '' ? bytes.length : Number(to) + 1);
  return { status: range === undefined ? 200 : 206, body };
}
