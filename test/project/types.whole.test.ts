import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };

/** The examples of the page, and what must compile, or must not, besides. */
const programs: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...readFileSync(join(root, 'docs/library.md'), 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(
      ([, example = ''], index) => [`example-${index}.mts`, example],
    ),
  ),
  'exports.mts': `import { jobSchema, openDiskLedger } from 'asset-export';\nexport const used = { jobSchema, openDiskLedger };\n`,
  'rows.mts': `import { exportAssets, readRows } from 'asset-export';
for await (const row of readRows({ out: 'out' })) {
  const burnt: boolean | null = row.burnt;
  const supply: number | bigint | null = row.token_info_supply;
  const since: number | undefined = row.fetched_at;
  // @ts-expect-error: no such column
  console.log(row.brunt, burnt, supply, since);
}
for await (const row of readRows({ out: 'out', table: 'creators' })) console.log(row.asset_id.length, row.share);
for await (const row of readRows({ out: 'out', table: 'changes' })) console.log(row.op, row.before);
for await (const row of readRows({ out: 'out', table: 'unexported' })) console.log(row.reason?.length, row.line);
// @ts-expect-error: no such table
readRows({ out: 'out', table: 'asets' });
// @ts-expect-error: no such table
await exportAssets({ tables: ['asets'] });
await exportAssets({ ids: 'ids.txt', url: 'https://service.example', out: 'out', job: { output: { rowsPerPart: 10 } } });
`,
};

// Promise, Nothing leaked: The examples of `docs/library.md` compile against the packed types
it('the packed types fit every example of docs/library.md, checked as strictly as a user can', async () => {
  const cwd = await tempFolder();
  // As npm unpacks the package for a user of TypeScript: what is not among its dependencies is not found.
  const installed = join(cwd, 'node_modules/asset-export');
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  const packages = [...Object.keys(dependencies), '@types/node', 'undici-types'];
  for (const name of packages) {
    mkdirSync(dirname(join(cwd, 'node_modules', name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(cwd, 'node_modules', name));
  }
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(cwd, name), text);
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023', '--types', 'node'];
  const stricter = ['--skipLibCheck', 'false', '--noPropertyAccessFromIndexSignature', '--preserveSymlinks'];
  const checker = join(root, 'node_modules/typescript-native/bin/tsc');
  const command = [checker, '--listFiles', '--noEmit', ...options, ...stricter, ...Object.keys(programs)];
  const { status, stdout } = spawnSync(process.execPath, command, { cwd, encoding: 'utf8' });
  expect(status, stdout).toBe(0);
  const files = stdout.split('\n');
  expect(files.filter((file) => file.startsWith(cwd) && file.endsWith('.mts'))).toHaveLength(
    Object.keys(programs).length,
  );
  expect(files).toContain(join(installed, 'dist/index.d.ts'));
}, 180_000);
