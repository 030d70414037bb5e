import { sha256 } from '../../lib/hash/sha256.ts';
import type { NamedBody, ObjectStore } from './object-store.ts';

/** The whole of a small object. @throws {ExportError} `damaged` when it is absent */
export async function readObject(store: ObjectStore, name: string): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of store.read(name)) blocks.push(block);
  return Buffer.concat(blocks);
}

/** The whole of a small object; undefined when there is none. */
export async function readObjectIfThere(store: ObjectStore, name: string): Promise<Buffer | undefined> {
  if ((await store.look(name)) === undefined) return undefined;
  try {
    return await readObject(store, name);
  } catch (error) {
    // Another process may have removed it since.
    if ((await store.look(name)) === undefined) return undefined;
    throw error;
  }
}

/** What changes with a small object: its tag, or the hash of its bytes where the store sends no tags; undefined when there is none. */
export async function versionOf(store: ObjectStore, name: string): Promise<string | undefined> {
  const found = await store.look(name);
  if (found === undefined || found.tag !== '') return found?.tag;
  const bytes = await readObjectIfThere(store, name);
  return bytes && sha256(bytes);
}

export async function namesOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of store.list(prefix)) names.push(name);
  return names;
}

/** `ObjectStore.putAll` of a bucket: side by side. */
export async function putSideBySide(
  putNew: ObjectStore['putNew'],
  bodies: readonly NamedBody[],
): Promise<readonly string[]> {
  const put = await Promise.allSettled(bodies.map(async ({ name, body }) => ({ name, how: await putNew(name, body) })));
  return put.flatMap((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value.how === 'taken' ? [each.value.name] : [];
  });
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
