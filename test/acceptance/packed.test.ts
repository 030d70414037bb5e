import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { keptFolder } from '../support/temp-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packageSchema = z.looseObject({ scripts: z.record(z.string(), z.string()) });
const packed = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }));

/** What npm says where it reaches no registry and its cache lacks a package. */
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

async function run(file: string, args: readonly string[], cwd: string) {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [exit] = (await once(child, 'close')) as [number];
  return { exit, stdout, stderr };
}

describe('the packed program', () => {
  let temp: Awaited<ReturnType<typeof keptFolder>>;
  let files: string[];
  let archive: string;

  beforeAll(async () => {
    temp = await keptFolder();
    const { stdout, stderr } = await run(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', temp.path],
      root,
    );
    expect(stdout, stderr).not.toBe('');
    const [result] = packed.parse(JSON.parse(stdout));
    files = (result?.files ?? []).map(({ path }) => path);
    archive = join(temp.path, result?.filename ?? '');
    // Packing reads and compresses 30 MB.
  }, 120_000);

  afterAll(() => temp.remove());

  it('holds what users need, and no generator, test or source map', () => {
    const own = files.filter((path) => !path.startsWith('node_modules/'));
    for (const path of [
      'dist/main.js',
      'dist/index.d.ts',
      'dist/LICENSES.txt',
      'jobs/demo.yaml',
      'data/assets.jsonl.gz',
      'docs/operations.md',
      'LICENSE',
    ]) {
      expect(own).toContain(path);
    }
    expect(own.filter((path) => /\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect([...new Set(own.map((path) => path.split('/')[0]))].sort()).toEqual(
      [
        'ARCHITECTURE.md',
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'data',
        'dist',
        'docs',
        'jobs',
        'package.json',
      ].sort(),
    );
  });

  it('has no script that npm runs where it is installed, and no override, which would not reach users', () => {
    const { scripts, ...rest } = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    expect(Object.keys(scripts).filter((name) => /^((pre|post)?install|prepare|prepublish)$/.test(name))).toEqual([]);
    expect(rest).not.toHaveProperty('overrides');
  });

  it('installs without a warning, and works from a folder of the user', { timeout: 300_000 }, async (context) => {
    const prefix = join(temp.path, 'prefix');
    const flags = ['--engine-strict', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', prefix];
    const installed = await run('npm', ['install', '--global', ...flags, archive], temp.path);
    if (installed.exit !== 0 && offline.test(installed.stderr)) context.skip('npm reaches no registry');
    expect(installed.exit, installed.stderr).toBe(0);
    // A setting of this machine that npm does not know is none of ours.
    expect(installed.stderr.split('\n').filter((line) => /warn/.test(line) && !/Unknown .*config/.test(line))).toEqual(
      [],
    );

    const program = join(prefix, 'bin/asset-export');
    const own = join(temp.path, 'own');
    copyFileSync(join(root, 'data/ids.txt'), join(temp.path, 'ids.txt'));
    const init = ['init', own, '--yes', '--ids', 'ids.txt', '--url', 'embedded:asset-export-demo', '--out', 'own/out'];
    for (const args of [
      ['demo'],
      init,
      ['plan', 'own/job.yaml'],
      ['run', 'own/job.yaml'],
      ['status', 'own/out'],
      ['verify', 'own/out'],
      ['load', 'own/out', '--to', 'duckdb:own/own.duckdb'],
      ['help', 'operations'],
    ]) {
      const { exit, stderr } = await run(program, args, temp.path);
      expect(exit, `${args.join(' ')}\n${stderr}`).toBe(0);
    }
    const { stdout } = await run(program, ['status', 'own/out', '--json'], temp.path);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'complete', counts: { exported: 1300, missing: 20 } });
  });
});
