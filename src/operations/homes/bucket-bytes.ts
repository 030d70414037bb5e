import type { ObjectStore } from '../../objects/object-store.ts';

/** The whole of a small object. */
export async function bytesOf(store: ObjectStore, name: string): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of store.read(name)) blocks.push(block);
  return Buffer.concat(blocks);
}

export async function namesOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of store.list(prefix)) names.push(name);
  return names;
}

/** So many requests run at once. */
const atOnce = 16;

/** Does something with each item, a few at a time. The first failure ends it. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items].reverse();
  const worker = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
