import { z } from 'zod';
import { ExportError } from '../../lib/export-error.ts';
import { sliceNames } from '../../slices/slice-names.ts';
import { exportStartSchema } from '../../store/checkpoint.ts';
import { bytesOf } from './bucket-bytes.ts';
import type { BucketPlace } from './bucket-place.ts';

const bucketStartVersion = 1;

const bucketStartSchema = exportStartSchema.extend({ version: z.number(), entriesPerSlice: z.number() });

/** What an export in a bucket began with. */
export type BucketStart = z.infer<typeof bucketStartSchema>;

/** Begins an export, or reads what it began with. */
export async function beginOrRead(place: BucketPlace, begin: Omit<BucketStart, 'version'>): Promise<BucketStart> {
  const start = { version: bucketStartVersion, ...begin };
  const body = { bytes: Buffer.from(JSON.stringify(start)) };
  if ((await place.store.putNew(sliceNames.start, body)) === 'put') return start;
  const begun = await readBucketStart(place);
  if (begun === undefined) throw damagedStart(place.address, 'it is missing');
  return begun;
}

/** What an export in a bucket began with; undefined when none did. @throws {ExportError} `damaged` */
export async function readBucketStart({
  store,
  address,
}: Pick<BucketPlace, 'store' | 'address'>): Promise<BucketStart | undefined> {
  if ((await store.look(sliceNames.start)) === undefined) return undefined;
  const text = (await bytesOf(store, sliceNames.start)).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damagedStart(address, 'it is not JSON');
  }
  const parsed = bucketStartSchema.safeParse(value);
  if (!parsed.success) throw damagedStart(address, 'it is not the start of an export');
  if (parsed.data.version > bucketStartVersion) throw damagedStart(address, 'a newer version wrote it');
  return parsed.data;
}

function damagedStart(address: string, why: string): ExportError {
  return new ExportError('damaged', `${address}/${sliceNames.start} is damaged: ${why}`, {
    todo: 'Restore it from an earlier version of the object, or start over with --fresh.',
  });
}
