import { dirname } from 'node:path';

/** True for an address of a bucket (`s3://bucket/prefix`); false for a path. */
export function isBucketAddress(text: string): boolean {
  return /^(s3|gs|az):\/\//.test(text);
}

/** The folder or prefix around an export. */
export function parentOf(place: string): string {
  return isBucketAddress(place) ? place.replace(/\/+$/, '').replace(/\/[^/]*$/, '') : dirname(place);
}

/** What is wrong with the names of a bucket's address, as a clause without these names: a password may stand there. */
export function bucketNameProblem(address: string): string | undefined {
  const [, scheme, first = '', second = ''] = /^(s3|gs|az):\/\/([^/]*)(?:\/([^/]*))?/.exec(address) ?? [];
  const isName = (text: string): boolean => /^[\w.-]+$/.test(text);
  if (scheme === 'az' && isName(first) && !isName(second)) {
    return 'has az:// without the names of an account and a container after it';
  }
  return isName(first)
    ? undefined
    : `has ${scheme ?? ''}:// without the name of ${scheme === 'az' ? 'an account' : 'a bucket'} after it`;
}
