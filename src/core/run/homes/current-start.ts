import { isDeepStrictEqual } from 'node:util';
import { ExportError } from '../../../lib/export-error.ts';
import { versionOf } from '../../../places/objects/small-objects.ts';
import { sliceNames } from '../../../places/log/slice-names.ts';
import { exportPaths } from '../../../places/export/export-folder.ts';
import { type ExportAddress, type HomeStart, readStart } from './home-start.ts';

/** Another process completed the export: there is nothing left to claim. */
export class ExportIsComplete extends Error {}

/**
 * Sees that an export is still the one that a process opened. Logs are removed with a complete or thrown away export, so a claim
 * can succeed there; whoever claims looks after it.
 */
export class CurrentStart {
  readonly #place: ExportAddress;
  readonly #begun: HomeStart;
  #version: string | undefined;

  constructor(place: ExportAddress, begun: HomeStart) {
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
    const now = version === undefined ? undefined : await readStart(this.#place);
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
function withoutSlices(start: HomeStart): HomeStart {
  return { ...start, entries: undefined, slices: undefined };
}
