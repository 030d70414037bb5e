/** True for an address of a bucket (`s3://bucket/prefix`); false for a path. */
export function isBucketAddress(text: string): boolean {
  return /^(s3|gs|az):\/\//.test(text);
}
