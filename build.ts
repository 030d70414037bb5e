/** Makes `dist`: the program, the library and the thread's entry as bundles that share chunks, the kernel, and the library's types. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { buildKernel } from './build-kernel.ts';

const root = fileURLToPath(new URL('.', import.meta.url));
const folder = join(root, 'dist');

/** Packages that stay apart: their binaries or WebAssembly lie beside their code, or users need them to be optional. */
const external = [
  '@aws-sdk/client-s3',
  '@azure/identity',
  '@azure/storage-blob',
  '@duckdb/node-api',
  '@google-cloud/storage',
  '@hpcc-js/wasm-zstd',
  'bullmq',
  'parquet-wasm',
  'pg',
  'pg-copy-streams',
];

rmSync(folder, { recursive: true, force: true });
const bundled = await bundle();
writeFileSync(join(folder, 'LICENSES.txt'), bundled.map(licenceOf).join('\n'));
buildKernel();
execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

/** Resolves to the folders of the packages whose code is in the bundles. */
async function bundle(): Promise<string[]> {
  const bundles = await rolldown({
    cwd: root,
    input: { main: 'src/main.ts', index: 'src/index.ts', worker: 'src/core/work/threads/worker-entry.ts' },
    platform: 'node',
    external: (id) => isBuiltin(id) || external.includes(id),
    // Scanners compare each byte with constants of another module: as numbers these cost nothing.
    optimization: { inlineConst: true },
    // A module may be loaded early by one command and late by another.
    checks: { ineffectiveDynamicImport: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const { output } = await bundles.write({ dir: folder, format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' });
  await bundles.close();
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const packages = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []);
  return [...new Set(packages)].sort();
}

/** The name, version and licence of a bundled package, as its terms ask for. */
function licenceOf(path: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? '' : `\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
  return `${name} ${version}: ${license}\n${text}`;
}
