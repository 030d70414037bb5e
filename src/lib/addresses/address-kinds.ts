import { dirname } from 'node:path';

/** Where exports may lie that is no folder: what is named before the folders of an address, and how one is written. */
export const bucketSchemes = {
  s3: { names: ['a bucket'], example: 's3://bucket/prefix' },
  gs: { names: ['a bucket'], example: 'gs://bucket/prefix' },
  az: { names: ['an account', 'a container'], example: 'az://account/container/prefix' },
} as const;
export type BucketScheme = keyof typeof bucketSchemes;

const schemeNames = Object.keys(bucketSchemes);
const examples = Object.values(bucketSchemes).map(({ example }) => example);

/** How addresses of buckets are written, for those who have to write one. */
export const bucketExamples = `${examples.slice(0, -1).join(', ')} or ${examples.at(-1) ?? ''}`;

export interface BucketAddress {
  readonly scheme: BucketScheme;
  /** Of the bucket, behind that of its account where it has one. */
  readonly names: readonly string[];
  /** Folders in the bucket, without the slashes at the end. */
  readonly path: string;
}

/** The parts of a bucket's address; undefined for a path. */
export function bucketAddressOf(text: string): BucketAddress | undefined {
  const [, scheme = '', rest = ''] = /^(\w+):\/\/(.*)$/s.exec(text) ?? [];
  if (!isScheme(scheme)) return undefined;
  const all = rest.replace(/\/+$/, '').split('/');
  const depth = bucketSchemes[scheme].names.length;
  return { scheme, names: all.slice(0, depth), path: all.slice(depth).join('/') };
}

function isScheme(text: string): text is BucketScheme {
  return schemeNames.includes(text);
}

/** True for an address of a bucket (`s3://bucket/prefix`); false for a path. */
export function isBucketAddress(text: string): boolean {
  return bucketAddressOf(text) !== undefined;
}

/** An address for programs that decode it, ClickHouse among them: keys may have blanks, percent signs and marks of URLs. */
export function encodedAddress(address: string): string {
  return encodeURI(address).replaceAll(/[?#]/g, encodeURIComponent);
}

/** The folder or prefix around an export. */
export function parentOf(place: string): string {
  return isBucketAddress(place) ? place.replace(/\/+$/, '').replace(/\/[^/]*$/, '') : dirname(place);
}

/** What is wrong with the names of a bucket's address, as a clause without these names: a password may stand there. */
export function bucketNameProblem(address: string): string | undefined {
  const bucket = bucketAddressOf(address);
  if (bucket === undefined) return undefined;
  const { names: wanted } = bucketSchemes[bucket.scheme];
  const right = bucket.names.filter((name) => /^[\w.-]+$/.test(name));
  if (right.length === wanted.length) return undefined;
  return `has ${bucket.scheme}:// without the ${wanted.length > 1 ? 'names' : 'name'} of ${wanted.join(' and ')} after it`;
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
