/** Runs the fast lane and one whole export on another major version of Node.js: `npm run test:node -- 22`. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [major = ''] = process.argv.slice(2);
if (!/^\d+$/.test(major)) {
  console.error('Name a major version of Node.js: npm run test:node -- 22');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'asset-export-node-'));
try {
  const out = join(folder, 'demo');
  for (const line of [
    ['--version'],
    ['node_modules/vitest/vitest.mjs', 'run', '--mode', 'fast'],
    ['dist/main.js', 'demo', out],
    ['dist/main.js', 'verify', out],
  ]) {
    // npm's package `node` is the program itself.
    const { status } = spawnSync('npx', ['--yes', '--package', `node@${major}`, '--', 'node', ...line], {
      stdio: 'inherit',
    });
    if (status !== 0) {
      process.exitCode = status ?? 1;
      console.error(`Node.js ${major}: failed: node ${line.join(' ')}`);
      break;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
