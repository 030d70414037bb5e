import { randomBytes } from 'node:crypto';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { uuidV7 } from '../../lib/uuid-v7.ts';
import type { ObjectStore } from '../../places/objects/object-store.ts';
import { NextVersion } from './next-version.ts';
import { metadataNames, TableFiles } from './table-files.ts';
import { foreignSnapshot, noSnapshot, parseTableMetadata, type TableMetadata } from './table-metadata.ts';

/** A version of a table, as it was read. */
export interface TableVersion {
  readonly version: number;
  readonly metadata: TableMetadata;
}

export interface TableChange {
  /** Whether there is nothing to do: asked before the first attempt, and after each. @param isPut whether a version was put */
  readonly isDone: (newest: TableVersion | undefined, isPut: boolean) => boolean;
  readonly make: (next: NextVersion, before: TableMetadata) => Promise<void>;
  /** Where readers find the table, for one that begins. */
  readonly location: string;
  /** Whether it may follow on a version of another program. */
  readonly takesBack?: boolean;
}

/** Where the tables of a lake lie. */
export interface LakeStore {
  /** The folder or the address of the bucket that holds the nights. */
  readonly root: string;
  /** What lies in `<root>/lake`. */
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * An Iceberg table in a folder or a bucket. What it holds is the newest of its versions; each is put if absent, so that of processes which
 * write at once one is first, and the others look again.
 */
export class LakeTable {
  readonly name: string;
  readonly files: TableFiles;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #root: string;

  constructor({ root, store, clock }: LakeStore, name: string) {
    this.name = name;
    this.files = new TableFiles(store, name);
    this.#clock = clock;
    this.#root = root;
  }

  /** The newest version; undefined where the table has not begun. @throws {ExportError} `damaged` */
  async newest(): Promise<TableVersion | undefined> {
    const hint = await this.#hint();
    const known = hint !== undefined && (await this.#has(hint)) ? hint : await this.#greatest();
    if (known === undefined) return undefined;
    const version = await this.#upFrom(known);
    const name = metadataNames.version(version);
    return { version, metadata: parseTableMetadata(await this.files.read(name), `${this.name}/metadata/${name}`) };
  }

  /**
   * Puts versions until there is nothing to do, then has the hint name the newest.
   * @throws {ExportError} `usage` where another program wrote the newest snapshot
   */
  async change({ isDone, make, location, takesBack = false }: TableChange): Promise<TableVersion | undefined> {
    for (let isPut = false; ; ) {
      const newest = await this.newest();
      if (isDone(newest, isPut)) {
        if (newest !== undefined) await this.#pointHint(newest.version);
        return newest;
      }
      if (newest !== undefined && !takesBack) this.#requireOwn(newest);
      const before = newest?.metadata ?? this.#begun(location);
      const version = (newest?.version ?? 0) + 1;
      const { name: table, files } = this;
      const next = new NextVersion({ table, files, version, before, nowMs: this.#clock.now() });
      await make(next, before);
      const previous =
        newest === undefined ? undefined : `${before.location}/metadata/${metadataNames.version(newest.version)}`;
      const bytes = Buffer.from(`${JSON.stringify(next.finish(previous))}\n`);
      isPut = await files.putNew(metadataNames.version(version), bytes);
    }
  }

  #begun(location: string): TableMetadata {
    return {
      'format-version': 2,
      'table-uuid': uuidV7(this.#clock.now(), randomBytes(10)),
      location,
      'last-sequence-number': 0,
      'last-updated-ms': 0,
      'last-column-id': 0,
      'current-schema-id': 0,
      schemas: [],
      'default-spec-id': 0,
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      // Iceberg's first partition field has the id 1000.
      'last-partition-id': 999,
      'default-sort-order-id': 0,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      properties: {},
      'current-snapshot-id': noSnapshot,
      refs: {},
      snapshots: [],
      'snapshot-log': [],
      'metadata-log': [],
    };
  }

  #requireOwn({ metadata }: TableVersion): void {
    const foreign = foreignSnapshot(metadata);
    if (foreign === undefined) return;
    throw new ExportError(
      'usage',
      `the newest snapshot (${foreign['snapshot-id']}) of the table ${this.name} of the lake was written by another program`,
      {
        todo: `To take the table back, with the nights that are there: ${commandLine('lake', this.#root, '--rebuild', '--yes')}. What the other program wrote is not in it then.`,
        facts: { table: this.name },
      },
    );
  }

  async #hint(): Promise<number | undefined> {
    const text = (await this.files.readIfThere(metadataNames.hint))?.toString().trim();
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  }

  #has(version: number): Promise<boolean> {
    return this.files.isThere(metadataNames.version(version));
  }

  async #greatest(): Promise<number | undefined> {
    const versions = (await this.files.names()).flatMap((name) => metadataNames.versionOf(name) ?? []);
    return versions.length === 0 ? undefined : Math.max(...versions);
  }

  async #upFrom(known: number): Promise<number> {
    let version = known;
    while (await this.#has(version + 1)) version += 1;
    return version;
  }

  /** A slower process may write an older number last: whoever writes one looks again. */
  async #pointHint(known: number): Promise<void> {
    for (let version = known; ; ) {
      if ((await this.#hint()) !== version) await this.files.put(metadataNames.hint, Buffer.from(String(version)));
      const newest = await this.#upFrom(version);
      if (newest === version) return;
      version = newest;
    }
  }
}
