import { dirname } from 'node:path';

/** True for an address of a bucket (`s3://bucket/prefix`); false for a path. */
export function isBucketAddress(text: string): boolean {
  return /^(s3|gs|az):\/\//.test(text);
}

/** The folder or prefix around an export. */
export function parentOf(place: string): string {
  return isBucketAddress(place) ? place.replace(/\/+$/, '').replace(/\/[^/]*$/, '') : dirname(place);
}
