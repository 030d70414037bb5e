import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it("the library's types are checked without an error where a user checks those of its libraries too", async () => {
  const cwd = await tempFolder();
  const program = join(cwd, 'program.ts');
  writeFileSync(
    program,
    `import { jobSchema, openDiskLedger } from 'asset-export';\nexport const used = { jobSchema, openDiskLedger };\n`,
  );
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(root, join(cwd, 'node_modules/asset-export'));
  const modules = join(root, 'node_modules');
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023'];
  const types = ['--types', 'node', '--typeRoots', join(modules, '@types'), '--skipLibCheck', 'false'];
  const command = [join(modules, 'typescript/bin/tsc'), '--listFiles', '--noEmit', ...options, ...types, program];
  const files = execFileSync(process.execPath, command, { cwd, encoding: 'utf8' }).split('\n');
  expect(files).toContain(join(root, 'dist/index.d.ts'));
  // What users do not have: these packages are in the bundles.
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
  // `@types/node` names `buffer`: a package of that name, which a user need not have, is found here.
  const known = ['typescript', '@types', 'undici-types', 'buffer', ...Object.keys(dependencies)];
  const own = `${join(root, 'node_modules')}/`;
  const others = files.filter(
    (file) => file.startsWith(own) && !known.some((name) => file.startsWith(`${own}${name}/`)),
  );
  expect(others).toEqual([]);
}, 180_000);
