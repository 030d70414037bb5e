import { randomUUID } from 'node:crypto';
import { ExportError } from '../../lib/export-error.ts';
import { namesOf, type ObjectLook, type ObjectStore, readObjectIfThere } from './object-store.ts';
import { chooseStore } from './store-retries.ts';

/**
 * Puts a few small objects under `.run/probe/` to see that the store overwrites nothing by accident, and removes them.
 * @throws {ExportError} `usage` for a store that overwrites
 */
export async function probeStore(
  store: ObjectStore,
  address: string,
): Promise<{
  /** False where the store refuses a right tag, or takes a wrong one: a part with other bytes then needs `verify --repair`. */
  readonly canReplace: boolean;
  /** False where nothing may be deleted: the probe stays. */
  readonly canRemove: boolean;
  /** When the probe was put, by the clock of the store; undefined where it does not say. */
  readonly putAtMs: number | undefined;
}> {
  const name = `.run/probe/${randomUUID()}`;
  await store.putNew(name, body('first'));
  let canRemove = false;
  const remove = async (): Promise<void> => {
    if (canRemove) return;
    // A prefix where nothing may be deleted keeps the object.
    canRemove = await store.remove([name]).then(
      () => true,
      () => false,
    );
  };
  try {
    // Requests at once go over several connections, which a store may serve by several machines.
    const reads = [1, 2].map(() => readObjectIfThere(store, name));
    const seen = [...(await Promise.all([store.look(name), ...reads])), (await namesOf(store, name))[0]];
    if (seen.includes(undefined)) throw forgets(address);
    if ((await store.putNew(name, body('second'))) === 'put') throw overwrites(address);
    const first = await store.look(name);
    const replaces = await canReplace(store, name, first);
    await remove();
    return { canReplace: replaces, canRemove, putAtMs: first?.putAtMs };
  } finally {
    await remove();
  }
}

/** A wrong tag has to be refused and a right one taken. The wrong one was right once, so its form is the store's. */
async function canReplace(store: ObjectStore, name: string, first: ObjectLook | undefined): Promise<boolean> {
  if (first === undefined || (await store.replace(name, body('third'), first.tag)) !== 'put') return false;
  return (await store.replace(name, body('fourth'), first.tag)) === 'changed';
}

function body(text: string): { readonly bytes: Uint8Array } {
  return { bytes: Buffer.from(text) };
}

function forgets(address: string): ExportError {
  return new ExportError('usage', `${address} does not show an object right after it was put`, {
    todo: 'Choose a store that is consistent: S3, Google Cloud Storage, Azure Blob Storage, Ceph, or a folder.',
  });
}

function overwrites(address: string): ExportError {
  return new ExportError('usage', `${address} overwrites objects although the request forbids it (If-None-Match: *)`, {
    todo: chooseStore,
  });
}
