import { z } from 'zod';
import { ExportError } from '../../../lib/export-error.ts';
import { sliceNames } from '../../../places/log/slice-names.ts';
import { exportStartSchema } from '../../../places/scratch/checkpoint.ts';
import { readObjectIfThere } from '../../../places/objects/small-objects.ts';
import type { BucketPlace } from './bucket-place.ts';

/** 2: slices are the table `ids`. */
const bucketStartVersion = 2;

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

const bucketStartSchema = exportStartSchema.extend({
  version: z.number(),
  entriesPerSlice: z.number(),
  /** Of an export that was enqueued: the entries of all inputs, and the slices in order. */
  entries: z.number().optional(),
  slices: z.array(enqueuedSliceSchema).optional(),
});

export type EnqueuedSlice = z.infer<typeof enqueuedSliceSchema>;

/** What an export in a bucket began with. */
export type BucketStart = z.infer<typeof bucketStartSchema>;

/** The bytes of the object that says what an export began with. */
export function startBody(begin: Omit<BucketStart, 'version'>): { readonly bytes: Uint8Array } {
  return { bytes: Buffer.from(JSON.stringify({ version: bucketStartVersion, ...begin })) };
}

/** Begins an export, or reads what it began with. */
export async function beginOrRead(place: BucketPlace, begin: Omit<BucketStart, 'version'>): Promise<BucketStart> {
  if ((await place.store.putNew(sliceNames.start, startBody(begin))) === 'put')
    return { version: bucketStartVersion, ...begin };
  const begun = await readBucketStart(place);
  if (begun === undefined) throw damagedStart(place.address, 'it is missing');
  return begun;
}

/** What an export in a bucket began with; undefined when none did. @throws {ExportError} `damaged` */
export async function readBucketStart({
  store,
  address,
}: Pick<BucketPlace, 'store' | 'address'>): Promise<BucketStart | undefined> {
  const bytes = await readObjectIfThere(store, sliceNames.start);
  if (bytes === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw damagedStart(address, 'it is not JSON');
  }
  const parsed = bucketStartSchema.safeParse(value);
  if (!parsed.success) throw damagedStart(address, 'it is not the start of an export');
  const { version, slices } = parsed.data;
  if (version > bucketStartVersion) throw damagedStart(address, 'a newer version wrote it');
  if (version < 2 && slices !== undefined)
    throw new ExportError(
      'damaged',
      `${address} was enqueued by asset-export 0.1, whose slices this version does not read`,
      {
        todo: 'Finish it with asset-export 0.1, or start over: asset-export enqueue --fresh.',
      },
    );
  return parsed.data;
}

function damagedStart(address: string, why: string): ExportError {
  return new ExportError('damaged', `${address}/${sliceNames.start} is damaged: ${why}`, {
    todo: 'Restore it from an earlier version of the object, or start over with --fresh.',
  });
}
