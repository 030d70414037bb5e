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

/** How the address of a shared database is written. */
export const postgresAddressExample =
  'Write postgres://user@host/database. The password comes from PGPASSWORD or PGPASSFILE.';

/** Why a text cannot be the address of a shared database; undefined where it can. It may hold a password: never show it. */
export function postgresAddressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) return 'must be a postgres:// address';
  const holdsPassword = url.password !== '' || url.searchParams.has('password');
  return holdsPassword ? 'must not hold a password' : undefined;
}

/** What to write where a base address is wrong. */
export const addressExample =
  'Give the base address, such as https://service.example, without /v3 and the key: the key goes into a file (service.apiKeyFile) or the environment.';

/**
 * What is wrong with the base address of a service, as a clause without the address: it may hold a key by mistake.
 * @param path what the program adds to it: its first segment is not to be there already
 */
export function addressProblem(text: string, path = '/v3/'): string | undefined {
  if (text === '') return 'is empty';
  if (!/^https?:\/\//i.test(text)) return 'does not start with https:// or http://';
  // URL.parse is missing in Node 20.
  if (/\s/.test(text) || !URL.canParse(text)) return 'is not a valid address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'contains a user name or password; remove it';
  if (url.search !== '' || url.hash !== '') return 'contains ? or #; remove that part';
  const [, first = ''] = path.split('/');
  const isPlain = /^[\w-]+$/.test(first);
  return isPlain && url.pathname.split('/').includes(first) ? `already holds /${first}` : undefined;
}
