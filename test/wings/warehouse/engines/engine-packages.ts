import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where `npm run engines` installs what is too large for `npm ci`. */
export const enginesFolder = fileURLToPath(new URL('../../../../.engines', import.meta.url));

/**
 * Loads a package that `npm run engines` installs; undefined where it is not installed.
 * @param untested what is not tested without it, for the message
 */
export function enginePackage(name: string, untested: string): unknown {
  return isInstalled(name, untested) ? createRequire(join(enginesFolder, 'package.json'))(name) : undefined;
}

/** Whether a package is in the folder of engines; says what is skipped where it is not. */
export function isInstalled(name: string, untested: string): boolean {
  if (existsSync(join(enginesFolder, 'node_modules', name, 'package.json'))) return true;
  console.warn(`${untested}: ${name} is not installed: npm run engines`);
  return false;
}
