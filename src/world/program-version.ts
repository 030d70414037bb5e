import { readFileSync } from 'node:fs';
import { packageRoot } from '../lib/packages/package-root.ts';

/** Version of this package. */
export function programVersion(): string {
  const text = readFileSync(new URL('package.json', packageRoot), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
