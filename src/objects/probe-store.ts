import { randomUUID } from 'node:crypto';
import { ExportError } from '../lib/export-error.ts';
import type { ObjectStore } from './object-store.ts';

/** What a store can do beyond what every export needs. */
export interface StoreAbilities {
  /** False where the store refuses a right tag, or takes a wrong one: a part with other bytes then needs `verify --repair`. */
  readonly canReplace: boolean;
}

/**
 * Puts a few small objects under `.run/probe/` to see that the store overwrites nothing by accident, and removes them.
 * @throws {ExportError} `usage` for a store that overwrites
 */
export async function probeStore(store: ObjectStore, address: string): Promise<StoreAbilities> {
  const name = `.run/probe/${randomUUID()}`;
  await store.putNew(name, body('first'));
  try {
    if ((await store.putNew(name, body('second'))) === 'put') throw overwrites(address);
    return { canReplace: await canReplace(store, name) };
  } finally {
    // A prefix where nothing may be deleted keeps the object.
    await store.remove([name]).catch(() => undefined);
  }
}

/** A wrong tag has to be refused and a right one taken. The wrong one was right once, so its form is the store's. */
async function canReplace(store: ObjectStore, name: string): Promise<boolean> {
  const first = await store.look(name);
  if (first === undefined || (await store.replace(name, body('third'), first.tag)) !== 'put') return false;
  return (await store.replace(name, body('fourth'), first.tag)) === 'changed';
}

function body(text: string): { readonly bytes: Uint8Array } {
  return { bytes: Buffer.from(text) };
}

function overwrites(address: string): ExportError {
  return new ExportError('usage', `${address} overwrites objects although the request forbids it (If-None-Match: *)`, {
    todo: 'Choose a store that supports conditional writes: S3, Google Cloud Storage, Azure Blob Storage, Ceph, or a folder.',
  });
}
