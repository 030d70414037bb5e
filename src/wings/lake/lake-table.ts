import { randomBytes } from 'node:crypto';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type Clock, uuidV7 } from '../../lib/clock.ts';
import { lakeFolder, pathIn } from '../../places/export/export-folder.ts';
import type { ObjectStore } from '../../places/objects/object-store.ts';
import { NextVersion } from './next-version.ts';
import { metadataNames, TableFiles } from './table-files.ts';
import { foreignSnapshot, noSnapshot, parseTableMetadata, type TableMetadata } from './table-metadata.ts';

/** A version of a table, as it was read. */
export interface TableVersion {
  readonly version: number;
  readonly metadata: TableMetadata;
}

/** What a table that may be damaged goes on from. */
export interface ReadableTable {
  /** The number of its newest version; 0 where it has none. */
  readonly last: number;
  /** The newest version that can be read. */
  readonly newest: TableVersion | undefined;
}

export interface TableChange {
  /** Whether there is nothing to do: asked before the first attempt, and after each. @param isPut whether a version was put */
  readonly isDone: (newest: TableVersion | undefined, isPut: boolean) => boolean;
  readonly make: (next: NextVersion, before: TableMetadata) => Promise<void>;
  /** Whether what it names still lies there: asked right before a version is put, which else is not. */
  readonly isThere?: (() => Promise<boolean>) | undefined;
  /** Where readers find the table, for one that begins. */
  readonly location: string;
  /** Whether it may follow on a version of another program, and on one that cannot be read. */
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
    const last = await this.#last();
    return last === 0 ? undefined : this.#read(last);
  }

  /** Passes by versions that are damaged. */
  async newestReadable(): Promise<ReadableTable> {
    const last = await this.#last();
    for (const version of last === 0 ? [] : await this.#versions()) {
      try {
        return { last, newest: await this.#read(version) };
      } catch (error) {
        if (!(error instanceof ExportError) || error.exit !== 'damaged') throw error;
      }
    }
    return { last, newest: undefined };
  }

  async #known(): Promise<ReadableTable> {
    const newest = await this.newest();
    return { last: newest?.version ?? 0, newest };
  }

  async #read(version: number): Promise<TableVersion> {
    const name = metadataNames.version(version);
    const path = pathIn(this.#root, `${lakeFolder}/${this.name}/metadata/${name}`);
    const todo = `Write the tables anew: ${commandLine('lake', this.#root, '--rebuild', '--yes')}`;
    return { version, metadata: parseTableMetadata(await this.files.read(name), path, todo) };
  }

  /**
   * Puts versions until there is nothing to do, then has the hint name the newest.
   * @throws {ExportError} `usage` where another program wrote the newest snapshot
   */
  async change({ isDone, make, isThere, location, takesBack = false }: TableChange): Promise<TableVersion | undefined> {
    for (let isPut = false; ; ) {
      const { last, newest } = takesBack ? await this.newestReadable() : await this.#known();
      if (isDone(newest, isPut)) {
        if (newest !== undefined) await this.#pointHint(newest.version);
        return newest;
      }
      if (newest !== undefined && !takesBack) this.requireOwn(newest);
      const before = newest?.metadata ?? this.#begun(location);
      const version = last + 1;
      const { name: table, files } = this;
      const next = new NextVersion({ table, files, version, before, nowMs: this.#clock.now() });
      try {
        await make(next, before);
      } catch (error) {
        // Another process was first, and may have removed what this one was about to name.
        if (await this.#has(version)) continue;
        throw error;
      }
      const previous =
        newest === undefined ? undefined : `${before.location}/metadata/${metadataNames.version(newest.version)}`;
      const bytes = Buffer.from(`${JSON.stringify(next.finish(previous))}\n`);
      if (isThere !== undefined && !(await isThere())) return newest;
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

  /** @throws {ExportError} `usage` where another program wrote the newest snapshot */
  requireOwn({ metadata }: TableVersion): void {
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

  /** The number of the newest version; 0 where there is none. */
  async #last(): Promise<number> {
    const hint = await this.#hint();
    const known = hint !== undefined && (await this.#has(hint)) ? hint : ((await this.#versions())[0] ?? 0);
    return known === 0 ? 0 : this.#upFrom(known);
  }

  /** The numbers of its versions, the newest first. */
  async #versions(): Promise<number[]> {
    return (await this.files.names()).flatMap((name) => metadataNames.versionOf(name) ?? []).sort((a, b) => b - a);
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
