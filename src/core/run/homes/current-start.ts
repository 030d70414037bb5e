import { isDeepStrictEqual } from 'node:util';
import { ExportError } from '../../../lib/export-error.ts';
import { versionOf } from '../../../places/objects/small-objects.ts';
import { sliceNames } from '../../../places/log/slice-names.ts';
import { exportPaths } from '../../../places/export/export-folder.ts';
import type { BucketPlace } from './bucket-place.ts';
import { type BucketStart, readBucketStart } from './bucket-start.ts';

/** Another process completed the export: there is nothing left to claim. */
export class ExportIsComplete extends Error {}

/**
 * Sees that an export is still the one that a process opened. Logs are removed with a complete or thrown away export, so a claim
 * can succeed there; whoever claims looks after it.
 */
export class CurrentStart {
  readonly #place: Pick<BucketPlace, 'store' | 'address'>;
  readonly #begun: BucketStart;
  #version: string | undefined;

  constructor(place: Pick<BucketPlace, 'store' | 'address'>, begun: BucketStart) {
    this.#place = place;
    this.#begun = begun;
  }

  /**
   * @throws {ExportIsComplete}
   * @throws {ExportError} `locked` when the export was started over
   */
  async require(): Promise<void> {
    const { store, address } = this.#place;
    if ((await store.look(exportPaths.manifest)) !== undefined) throw new ExportIsComplete();
    const version = await versionOf(store, sliceNames.start);
    if (version !== undefined && version === this.#version) return;
    const now = version === undefined ? undefined : await readBucketStart(this.#place);
    if (now === undefined || !isDeepStrictEqual(withoutSlices(now), withoutSlices(this.#begun))) {
      throw new ExportError('locked', `${address} was started over while this process waited`, {
        facts: { startedOver: true },
        todo: 'Run the same command again.',
      });
    }
    this.#version = version;
  }
}

/** Slices may be put after a run began. */
function withoutSlices(start: BucketStart): BucketStart {
  return { ...start, entries: undefined, slices: undefined };
}
