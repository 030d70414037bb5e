import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { type ObjectStore, readObject, readObjectIfThere } from '../../places/objects/object-store.ts';
import type { NightId } from './table-metadata.ts';

/** Names of what lies in `metadata/` of a table. */
export const metadataNames = {
  hint: 'version-hint.text',
  version: (version: number) => `v${version}.metadata.json`,
  versionOf: (name: string): number | undefined => {
    const [, version] = /^v(\d+)\.metadata\.json$/.exec(name) ?? [];
    return version === undefined ? undefined : Number(version);
  },
  /** @param copy counts up where other bytes have the name */
  manifest: ({ night, seal }: NightId, copy: number) => `${night}-${seal.slice(0, sealDigits)}-m${copy}.avro`,
  list: (snapshotId: number, version: number, seal: string, copy: number) =>
    `snap-${snapshotId}-${version}-${seal.slice(0, sealDigits)}${copy === 0 ? '' : `-${copy}`}.avro`,
  versionOfList: (name: string): number | undefined => {
    const [, version] = /^snap-\d+-(\d+)-[0-9a-f]+(?:-\d+)?\.avro$/.exec(name) ?? [];
    return version === undefined ? undefined : Number(version);
  },
  manifestOf: (name: string): NamedManifest | undefined => {
    const [, night, seal, copy] = /^(.+)-([0-9a-f]{16})-m(\d+)\.avro$/.exec(name) ?? [];
    return night === undefined || seal === undefined ? undefined : { night, seal, copy: Number(copy) };
  },
};

/** What the name of a manifest says; its seal is cut. */
export interface NamedManifest extends NightId {
  readonly copy: number;
}

const sealDigits = 16;

/** What lies in `lake/<table>/metadata/`, by its name there. */
export class TableFiles {
  readonly #store: ObjectStore;
  readonly #folder: string;

  /** @param store of `<root>/lake` */
  constructor(store: ObjectStore, table: string) {
    this.#store = store;
    this.#folder = `${table}/metadata/`;
  }

  async isThere(name: string): Promise<boolean> {
    return (await this.#store.look(this.#folder + name)) !== undefined;
  }

  read(name: string): Promise<Buffer> {
    return readObject(this.#store, this.#folder + name);
  }

  readIfThere(name: string): Promise<Buffer | undefined> {
    return readObjectIfThere(this.#store, this.#folder + name);
  }

  async names(): Promise<string[]> {
    const names: string[] = [];
    for await (const name of this.#store.names(this.#folder)) names.push(name);
    return names;
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#store.put(this.#folder + name, { bytes });
  }

  /** Whether the name has these bytes now: put by this call, or before. */
  async putNew(name: string, bytes: Uint8Array): Promise<boolean> {
    if ((await this.#store.putNew(this.#folder + name, { bytes })) === 'put') return true;
    return (await this.readIfThere(name))?.equals(bytes) === true;
  }

  /**
   * Puts bytes under the first of the names that is free or has them. What lies there is never changed: versions that readers
   * have open name it. @returns the name
   */
  async putOnce(nameOf: (copy: number) => string, bytes: Uint8Array): Promise<string> {
    for (let copy = 0; ; copy += 1) {
      const name = nameOf(copy);
      if (await this.putNew(name, bytes)) return name;
    }
  }

  remove(names: readonly string[]): Promise<void> {
    return this.#store.remove(names.map((name) => this.#folder + name));
  }
}

/** An address as readers of Iceberg want it: `az://account/container/path` has another form there. */
export function readersAddress(address: string): string {
  const [, account, container, path = ''] = /^az:\/\/([^/]+)\/([^/]+)(\/.*)?$/.exec(address) ?? [];
  if (account !== undefined && container !== undefined)
    return `abfss://${container}@${account}.dfs.core.windows.net${withoutEnd(path)}`;
  return isBucketAddress(address) ? withoutEnd(address) : address;
}

function withoutEnd(path: string): string {
  return path.replace(/\/+$/, '');
}

/** The last name of an address. */
export function lastName(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}
