import { readFileSync } from 'node:fs';

const idsPerCall = 1000;

/** The bodies of the calls for the ids of a file, as the program sends them. */
export function* callBodies(idFile: string): Generator<string, void, void> {
  const ids = readFileSync(idFile, 'latin1').split('\n').filter(Boolean);
  for (let first = 0; first < ids.length; first += idsPerCall) {
    const some = ids.slice(first, first + idsPerCall);
    yield JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [some] });
  }
}

/** Does the work for every item, so many at once. */
export async function eachAtOnce<T>(
  items: Iterator<T>,
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let next = items.next(); next.done !== true; next = items.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
