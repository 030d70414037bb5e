import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wings = readdirSync(join(root, 'src/wings'));

it.each(wings)('%s has a door, and a page that names files that there are', (wing) => {
  const folder = join(root, 'src/wings', wing);
  expect(existsSync(join(folder, 'index.ts'))).toBe(true);
  const page = readFileSync(join(folder, 'README.md'), 'utf8');
  const named = [...page.matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(3);
  const isThere = (name: string): boolean => existsSync(join(/^(src|test)\//.test(name) ? root : folder, name));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
