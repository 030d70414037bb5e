import { type ObjectStore, storeWithin } from '../../src/places/objects/object-store.ts';
import { exportPaths } from '../../src/places/export/export-folder.ts';
import { MemoryObjects } from './memory-objects.ts';

const top = 's3://bucket/';

/** Exports in one bucket in memory, by their addresses: `s3://bucket/…`. */
export class MemoryBuckets {
  readonly #objects = new MemoryObjects();

  readonly openStore = async ({ address }: { readonly address: string }): Promise<ObjectStore> =>
    storeWithin(this.#objects.open(), address.slice(top.length));

  /** Names of all objects below an address. */
  names(address: string): string[] {
    const prefix = `${address.slice(top.length)}/`;
    return [...this.#objects.objects.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  }

  /** The SHA-256 of every file of an export but its account and companions, by its path. */
  tableBytes(address: string): Readonly<Record<string, string>> {
    const own: readonly string[] = [exportPaths.manifest, ...exportPaths.companions];
    const names = this.names(address)
      .filter((name) => !own.includes(name))
      .sort();
    return Object.fromEntries(
      names.map((name) => [name, this.#objects.objects.get(`${address.slice(top.length)}/${name}`)?.sha256 ?? '']),
    );
  }
}
