import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

it('the bundle imports nothing before it looks at the version', () => {
  expect(readFileSync('dist/main.js', 'utf8')).not.toMatch(/^import\b(?!\()/m);
});

it.each(['16.20.2', '18.20.8'])(
  'Node.js %s is told what is needed',
  async (version) => {
    const folder = await tempFolder();
    execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `node@${version}`], {
      stdio: 'ignore',
    });
    const node = join(folder, 'node_modules/node/bin/node');
    const { status, stderr } = spawnSync(node, [join(process.cwd(), 'dist/main.js'), 'demo'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(`asset-export: needs Node.js 20.19 or newer; this is ${version}\n`);
  },
  120_000,
);
