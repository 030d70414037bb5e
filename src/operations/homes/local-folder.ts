import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isBucketAddress } from '../../lib/bucket-address.ts';

/** The local folder of an export: its own, or for a bucket the scratch folder of this user, one an address. */
export function localFolder({
  output,
}: {
  readonly output: { readonly dir: string; readonly scratch?: string | undefined };
}): string {
  if (!isBucketAddress(output.dir)) return output.dir;
  const hash = createHash('sha256').update(output.dir.replace(/\/+$/, '')).digest('hex');
  return join(output.scratch ?? cacheFolder(), hash.slice(0, 16));
}

function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'asset-export');
}
