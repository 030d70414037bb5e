import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tempFolder } from '../support/temp-folder.ts';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      resolved: z.string().optional(),
      link: z.boolean().optional(),
      integrity: z.string().optional(),
      dev: z.boolean().optional(),
      license: z.string().optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
      engines: z.union([z.record(z.string(), z.string()), z.array(z.string())]).optional(),
    }),
  ),
});

const lock = lockSchema.parse(JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')));
/** This package and its workspaces, which are here and not fetched. */
const workspaces = Object.values(lock.packages).flatMap(({ link, resolved = '' }) => (link === true ? [resolved] : []));
const own = ['', ...workspaces];
const packages = Object.entries(lock.packages).filter(([path, { link }]) => link !== true && !own.includes(path));

/** The packages in the bundles are installed by nobody, and reach all users. */
const bundled = readFileSync(new URL('../../dist/LICENSES.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\S+ \d\S*: \S/.test(line))
  .map((line) => line.replace(/ .*$/, ''));
const shipped = packages.filter(
  ([path, { dev }]) => dev !== true || bundled.includes(path.replace(/^.*node_modules\//, '')),
);

describe('the lock file', () => {
  it('is installed by `npm ci` without a warning', async () => {
    const folder = await tempFolder();
    for (const name of workspaces) mkdirSync(join(folder, name), { recursive: true });
    const files = own.map((path) => join(path, 'package.json'));
    for (const name of [...files, 'package-lock.json'])
      copyFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), join(folder, name));
    // Packages of this machine's cache or none: a dry run checks engines, peers and the lock, and fetches nothing.
    const flags = ['--dry-run', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
    const { status, stderr } = spawnSync('npm', ['ci', ...flags], { cwd: folder, encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    // A setting of this machine that npm does not know is none of ours.
    const warnings = stderr.split('\n').filter((line) => /warn/i.test(line) && !/Unknown .*config/.test(line));
    expect(warnings).toEqual([]);
  });

  it('names no registry host', () => {
    expect(packages.filter(([, entry]) => entry.resolved !== undefined)).toEqual([]);
  });

  it('holds the hash of every package: npm checks none that it does not hold', () => {
    const unchecked = packages.filter(([, { integrity = '' }]) => !/^sha512-/.test(integrity));
    expect(unchecked.map(([path]) => path)).toEqual([]);
  });

  it('holds the optional packages of every platform, without which `npm ci` refuses it', () => {
    const missing = packages.flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter(
        (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('holds nothing that ships and needs a newer Node than 20', () => {
    expect(bundled).toContain('undici');
    const newer = shipped
      .map(([path, { engines }]) => ({ path, node: Array.isArray(engines) ? '' : (engines?.['node'] ?? '') }))
      .filter(({ node }) => /^>= ?2[1-9]/.test(node));
    expect(newer).toEqual([]);
  });

  it('ships under permissive licences only', () => {
    const permissive =
      /^\(?(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Python-2\.0|WTFPL|Zlib)\b/;
    const others = shipped
      .filter(([, { license }]) => license !== undefined && !permissive.test(license))
      .map(([path, { license }]) => `${path}: ${license ?? ''}`);
    expect(others).toEqual([]);
  });
});
