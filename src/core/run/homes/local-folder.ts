import { homedir } from 'node:os';
import { join } from 'node:path';
import { isBucketAddress } from '../../../lib/addresses/bucket-address.ts';
import { sha256 } from '../../../lib/hash/sha256.ts';

/** The local folder of an export: its own, or for a bucket the scratch folder of this user, one an address. */
export function localFolder({
  output,
}: {
  readonly output: { readonly dir: string; readonly scratch?: string | undefined };
}): string {
  if (!isBucketAddress(output.dir)) return output.dir;
  const hash = sha256(output.dir.replace(/\/+$/, ''));
  return join(output.scratch ?? cacheFolder(), hash.slice(0, 16));
}

function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'asset-export');
}
