import { ExportError } from '../../lib/export-error.ts';

/** A page of a listing, as a store sends it. */
export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins; undefined or empty at the end. */
  readonly next: string | undefined;
  /** True where more names follow and it does not say where, or it counts more than it has. */
  readonly isCut?: boolean | undefined;
}

export interface ListedObject {
  /** Of a folder it ends with `/`, in a listing of what is directly within another one. */
  readonly key: string;
  readonly bytes: number;
}

export interface Listing {
  /** The address of the store, for messages. */
  readonly address: string;
  /** All keys begin with it. */
  readonly prefix: string;
  /** Pages without a name that the store may send before its names. */
  readonly emptyPages?: number | undefined;
  readonly ask: (token: string | undefined) => Promise<ListedPage>;
}

/**
 * Reads all pages of a listing, each key once. It requests no more pages than there are keys, and one, beside `emptyPages`.
 * @throws {ExportError} `unavailable` where pages repeat each other or miss names
 */
export async function* readListing({ address, prefix, emptyPages = 0, ask }: Listing): AsyncGenerator<ListedObject> {
  const keys = new Set<string>();
  const tokens = new Set<string>();
  let token: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const { objects, next = '', isCut = false } = await ask(token);
    const fresh = objects.filter(({ key }) => keys.size < keys.add(key).size);
    const wrong = (problem: string): ExportError => brokenListing(address, `page ${pages} ${problem}`);
    const foreign = fresh.find(({ key }) => !key.startsWith(prefix));
    if (foreign !== undefined) throw wrong(`has "${foreign.key}", which is not below "${prefix}"`);
    if (isCut) throw wrong('is cut');
    yield* fresh;
    if (next === '') return;
    if (tokens.has(next)) throw wrong('leads back to a page before it');
    if (fresh.length === 0 && (objects.length > 0 || pages > keys.size + emptyPages)) throw wrong('has no new name');
    tokens.add(next);
    token = next;
  }
}

function brokenListing(address: string, problem: string): ExportError {
  return new ExportError('unavailable', `${address} sends a broken listing: ${problem}`, {
    todo: 'Run the same command again. If it fails again, report it to the operator of the store.',
  });
}
