import { readFileSync } from 'node:fs';

const idsPerCall = 1000;

// JavaScript as it is, like the programs that use it: they are measured from their start.

/**
 * The bodies of the calls for the ids of a file, as the program sends them.
 *
 * @param {string} idFile
 * @returns {Generator<string, void, void>}
 */
export function* callBodies(idFile) {
  const ids = readFileSync(idFile, 'latin1').split('\n').filter(Boolean);
  for (let first = 0; first < ids.length; first += idsPerCall) {
    const some = ids.slice(first, first + idsPerCall);
    yield JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [some] });
  }
}

/**
 * Does the work for every item, so many at once.
 *
 * @template T
 * @param {Iterator<T>} items
 * @param {number} lanes
 * @param {(item: T) => Promise<void>} work
 * @returns {Promise<void>}
 */
export async function eachAtOnce(items, lanes, work) {
  const lane = async () => {
    for (let next = items.next(); next.done !== true; next = items.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
