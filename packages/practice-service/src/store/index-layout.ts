import { wordsPerHash } from '../../../../src/lib/hash/hash-128.ts';

/** Changes with the layout of packed records or of the files of a store: an older store is built again. */
export const layoutVersion = 2;

/** Files of a store: the packed records, one after the other; where each is; and what the two have to be. */
export const storeFiles = { records: 'records', index: 'index', account: 'store.json' } as const;

/**
 * An entry of the index, in words of the machine's order: the hash of an id, the length of its record, and where that begins,
 * the low word first. Of entries with the same hash the last one counts.
 */
export const entry = { lengthAt: wordsPerHash, fromAt: wordsPerHash + 1, words: wordsPerHash + 3 } as const;
