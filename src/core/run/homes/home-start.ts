import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ExportError } from '../../../lib/export-error.ts';
import { checkedJson, valueOfCheckedJson } from '../../../lib/hash/sha256.ts';
import { currentEncoding } from '../../records/table.ts';
import { sliceNames } from '../../../places/log/slice-log.ts';
import { exportStartSchema, requireEncoding } from '../../../places/export/fact-schemas.ts';
import { type ObjectStore, readObjectIfThere, versionOf } from '../../../places/objects/object-store.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';

/** Version of the format of what an export begins with. */
const startVersion = 4;

/** An export, by the store in which it lies. */
export interface ExportAddress {
  readonly store: ObjectStore;
  /** For messages. */
  readonly address: string;
}

const objectSchema = z.object({ bytes: z.number(), sha256: z.string() });

/** A slice that lies in the bucket. */
const enqueuedSliceSchema = z.object({
  firstPart: z.number(),
  entries: z.number(),
  valid: z.number(),
  invalid: z.number(),
  duplicate: z.number(),
  /** That it takes when nothing fails. */
  calls: z.number(),
  ids: objectSchema,
});

const startSchema = exportStartSchema.extend({
  version: z.literal(startVersion),
  encoding: z.literal(currentEncoding),
  /** In a folder all entries are one slice. */
  entriesPerSlice: z.number().optional(),
  /** Of an export that was enqueued: the entries of all inputs, and the slices in order. */
  entries: z.number().optional(),
  slices: z.array(enqueuedSliceSchema).optional(),
  /** Of a repair of a complete export. */
  repairs: z
    .object({
      /** Content seal of the manifest. */
      seal: z.string(),
      /** The parts that are made again, from 0. */
      parts: z.array(z.number()),
    })
    .optional(),
});

export type EnqueuedSlice = z.infer<typeof enqueuedSliceSchema>;

/** Names the scratch folder of an export in a folder, in the log of its only slice. */
export const ownFolder = 'this folder';

/** What an unfinished export began with. */
export type HomeStart = z.infer<typeof startSchema>;

/** What is new of it. */
type NewStart = Omit<HomeStart, 'version' | 'encoding'>;

/** The bytes of the object that says what an export began with. */
export function startBody(begin: NewStart): { readonly bytes: Uint8Array } {
  return { bytes: checkedJson(versioned(begin)) };
}

function versioned({ job, inputs, startedAtMs, ...more }: NewStart): HomeStart {
  return { version: startVersion, job, inputs, startedAtMs, encoding: currentEncoding, ...more };
}

/** Begins an export, or reads what it began with. */
export async function beginOrRead(
  place: ExportAddress,
  begin: NewStart,
): Promise<{ readonly begun: HomeStart; readonly isNew: boolean }> {
  if ((await place.store.putNew(sliceNames.start, startBody(begin))) === 'put')
    return { begun: versioned(begin), isNew: true };
  const begun = await readStart(place);
  if (begun === undefined) throw damagedStart(place.address, 'it is missing');
  return { begun, isNew: false };
}

/** What an unfinished export began with; undefined when none did. @throws {ExportError} `damaged` */
export async function readStart({ store, address }: ExportAddress): Promise<HomeStart | undefined> {
  const bytes = await readObjectIfThere(store, sliceNames.start);
  if (bytes === undefined) return undefined;
  const value = valueOfCheckedJson(bytes);
  if (value === undefined) throw damagedStart(address, 'it was changed');
  const { version } = z
    .object({ version: z.number().catch(0) })
    .catch({ version: 0 })
    .parse(value);
  if (version > startVersion) throw damagedStart(address, 'a newer version wrote it');
  requireEncoding(value, pathIn(address, sliceNames.start));
  const parsed = startSchema.safeParse(value);
  if (!parsed.success) throw damagedStart(address, 'it is not the start of an export');
  return parsed.data;
}

function damagedStart(address: string, why: string): ExportError {
  return new ExportError('damaged', `${pathIn(address, sliceNames.start)} is damaged: ${why}`, {
    todo: 'Restore it from a copy, or start over with --fresh.',
  });
}

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
        why: { kind: 'startedOver' },
        again: 'now',
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
