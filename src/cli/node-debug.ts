import { ExportError } from '../lib/export-error.ts';

/** Node's and undici's debug logs that print the address of a request, which ends with the key. */
const leaking = ['undici', 'fetch', 'http', 'net'];

/**
 * The names are read as Node reads them: parted by commas, in any case, `*` for any text. Node has read the variable before
 * this program starts, so removing it has no effect.
 * @throws {ExportError} `usage`
 */
export function refuseLeakingDebugLogs(nodeDebug: string | undefined): void {
  const patterns = (nodeDebug ?? '').split(',').filter((name) => name !== '');
  const leaks = patterns.find((pattern) => leaking.some((name) => isMatch(pattern, name)));
  if (leaks === undefined) return;
  throw new ExportError('usage', `NODE_DEBUG=${leaks} would print the API key to stderr`, {
    todo: 'Unset NODE_DEBUG, or remove this name from it.',
  });
}

function isMatch(pattern: string, name: string): boolean {
  const source = pattern.replace(/[|\\{}()[\]^$+?.]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 'i').test(name);
}
