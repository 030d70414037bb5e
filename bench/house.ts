import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { barTable, type Loaded } from './bars.ts';
import {
  interfacesUsedOnce,
  longFunctions,
  mostLinesOfFunction,
  sharedNames,
  type SourceFile,
  sourceFiles,
  sourceFolder,
  workspacesFolder,
} from './source-files.ts';

/**
 * Prints how large the code is and how much of it one id takes, next to the bounds that we keep to. For a look before and after a change:
 *
 *     npm run house
 */

const root = fileURLToPath(new URL('..', import.meta.url));
/** A file of ours has at most so many lines, a folder so many files. */
const mostLines = 420;
const mostFiles = 25;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/** Modules of ours that a command loads, and the named functions in them that run. */
function loadedBy(args: readonly string[]): Loaded {
  const folder = mkdtempSync(join(tmpdir(), 'asset-export-house-'));
  try {
    const firstId =
      readFileSync(join(root, 'data/ids.txt'), 'utf8')
        .split('\n')
        .find((line) => line.length > 40) ?? '';
    writeFileSync(join(folder, 'ids.txt'), `${firstId}\n`);
    const command = [
      '--import',
      import.meta.resolve('ts-blank-space/register'),
      join(sourceFolder, 'main.ts'),
      ...args,
    ];
    const url = `embedded:${join(root, 'data/assets.jsonl.gz')}`;
    const { status, stderr } = spawnSync(
      process.execPath,
      [...command, '--ids', 'ids.txt', '--url', url, '--out', 'out', '--threads', '1'],
      { cwd: folder, env: { ...process.env, NODE_V8_COVERAGE: join(folder, 'coverage'), ASSET_EXPORT_STATE: folder } },
    );
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${String(stderr)}`);
    const ours = pathToFileURL(sourceFolder).href;
    const all = readdirSync(join(folder, 'coverage')).flatMap(
      (name) => (JSON.parse(readFileSync(join(folder, 'coverage', name), 'utf8')) as Coverage).result,
    );
    const mine = all.filter(({ url: file }) => file.startsWith(`${ours}/`));
    const ran = mine.flatMap(({ functions }) =>
      functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
    );
    return { modules: new Set(mine.map(({ url: file }) => file)).size, functions: ran.length };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function print(title: string, rows: readonly string[]): void {
  process.stdout.write(`${title}: ${rows.length}\n`);
  for (const row of rows) process.stdout.write(`  ${row}\n`);
}

function printLines(title: string, files: readonly SourceFile[]): void {
  const total = files.reduce((sum, { lines }) => sum + lines, 0);
  process.stdout.write(`  ${title.padEnd(16)} ${String(total).padStart(6)} in ${files.length} files\n`);
}

function main(): void {
  const files = sourceFiles();
  const rooms = new Map<string, number>();
  for (const { name, lines } of files) {
    const [top = '', inner = ''] = name.split('/');
    for (const room of top === 'core' || top === 'wings' ? [top, `${top}/${inner}`] : [top])
      rooms.set(room, (rooms.get(room) ?? 0) + lines);
  }
  process.stdout.write('lines a room\n');
  for (const [room, lines] of [...rooms].sort())
    process.stdout.write(`  ${room.padEnd(16)} ${String(lines).padStart(6)}\n`);
  printLines('all', files);
  const service = sourceFiles(workspacesFolder).filter(({ name }) => name.startsWith('practice-service/'));
  printLines('practice service', service);
  print(
    `files above ${mostLines} lines`,
    files.filter(({ lines }) => lines > mostLines).map(({ name }) => name),
  );
  const folders = new Map<string, number>();
  for (const { name } of files) folders.set(dirname(name), (folders.get(dirname(name)) ?? 0) + 1);
  print(
    `folders with more than ${mostFiles} files`,
    [...folders].filter(([, own]) => own > mostFiles).map(([name, own]) => `${name}: ${own}`),
  );
  print(
    'names exported by several files',
    [...sharedNames(files)].map(([name, own]) => `${name}: ${own.join(', ')}`),
  );
  print(
    `functions above ${mostLinesOfFunction} lines`,
    longFunctions(files).map(({ file, name, lines }) => `${name} (${file}): ${lines}`),
  );
  print(
    'interfaces used once',
    [...interfacesUsedOnce(files)].flatMap(([name, own]) => own.map((each) => `${each} (${name})`)),
  );
  let bars = '';
  for (const args of [
    ['run', '--format', 'parquet'],
    ['run', '--format', 'csv'],
    ['plan', '--format', 'csv'],
  ]) {
    const loaded = loadedBy(args);
    const { modules, functions } = loaded;
    if (args.join(' ') === 'run --format csv') bars = barTable(root, loaded);
    process.stdout.write(`${args.join(' ')} of one id: ${modules} modules loaded, ${functions} named functions run\n`);
  }
  process.stdout.write(bars);
}

main();
