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

const jobModules = [
  ...['cli/parse-arguments', 'core/run/disk-estimate', 'core/run/tolerance', 'core/run/homes/open-home'],
  ...['core/ids/read/read-lines', 'core/client/ledger/ledger-file'],
];

/** What common starts load, early or late. */
const starts: Readonly<Record<string, readonly string[]>> = {
  program: ['cli/process-terminal', 'cli/command-line', 'cli/output/show-error'],
  flags: ['cli/commands/run-command', 'cli/commands/plan-command'],
  thread: ['core/work/threads/worker-entry'],
  plan: [...jobModules, 'cli/commands/plan-command', 'core/run/plan-export', 'world/open-service'],
  run: [
    ...[...jobModules, 'cli/commands/run-command', 'core/run/export-assets', 'core/run/homes/open-slices'],
    ...['core/formats/csv', 'core/client/ledger/credit-ledger', 'places/files/lock'],
  ],
};

rmSync(folder, { recursive: true, force: true });
const bundled = await bundle();
writeFileSync(join(folder, 'LICENSES.txt'), bundled.map(licenceOf).join('\n'));
buildKernel();
execFileSync(process.execPath, [join(root, 'node_modules/typescript-native/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

/** Resolves to the folders of the packages whose code is in the bundles. */
async function bundle(): Promise<string[]> {
  const bundles = await rolldown({
    cwd: root,
    input: { main: 'src/main.ts', index: 'src/index.ts', worker: 'src/core/work/threads/worker-entry.ts' },
    platform: 'node',
    // Needed by groups without their dependencies; nothing imports an entry, so none is extended.
    preserveEntrySignatures: 'allow-extension',
    external: (id) => isBuiltin(id) || external.includes(id),
    // Scanners compare each byte with constants of another module: as numbers these cost nothing.
    optimization: { inlineConst: true },
    // A module may be loaded early by one command and late by another.
    checks: { ineffectiveDynamicImport: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const { output } = await bundles.write({
    dir: folder,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: fileNames(), debugName: 'starts' }] },
  });
  await bundles.close();
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const packages = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []);
  return [...new Set(packages)].sort();
}

interface ModuleGraph {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importedIds: readonly string[] } | null;
}

/**
 * Names the file of a module by the starts that load it: each file costs a start about half a millisecond, and a start loads what it
 * needs and no more. Entries stay alone: what they do is not done where another of their modules is needed.
 */
function fileNames(): (id: string, graph: ModuleGraph) => string | null {
  let loaded: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (id, graph) => {
    loaded ??= new Map(Object.entries(starts).map(([start, modules]) => [start, closure(modules, graph)]));
    const names = [...loaded].filter(([, ids]) => ids.has(id)).map(([start]) => start);
    return names.length === 0 || graph.getModuleInfo(id)?.isEntry === true ? null : names.join('-');
  };
}

/** Modules and all that they import, but not what they load late. */
function closure(modules: readonly string[], graph: ModuleGraph): Set<string> {
  const ids = new Set(modules.map((path) => join(root, 'src', `${path}.ts`)));
  for (const id of ids)
    if (graph.getModuleInfo(id) === null) throw new Error(`a start loads ${id}, which is no module`);
  for (const id of ids) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) ids.add(imported);
  return ids;
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
