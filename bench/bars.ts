import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { type SourceFile, sourceFiles } from './source-files.ts';

/** What one id takes: modules of ours that are loaded, and named functions that run. */
export interface Loaded {
  readonly modules: number;
  readonly functions: number;
}

/** A figure of the whole house; `bar` is the most of it, or, where it begins with a sign, the most that it may have grown. */
interface Bar {
  readonly what: string;
  readonly bar: string;
  readonly of: (house: House) => number;
}

interface House {
  readonly root: string;
  readonly src: readonly SourceFile[];
  readonly loaded: Loaded;
}

const bars: readonly Bar[] = [
  {
    what: 'lines of src and the service',
    bar: '-3520',
    of: ({ root, src }) => linesOf(src) + linesOf(sourceFiles(join(root, 'packages'))),
  },
  { what: 'lines of tests', bar: '-1200', of: ({ root }) => linesOf(sourceFiles(join(root, 'test'))) },
  { what: 'named types', bar: '880', of: ({ src }) => namedTypes(src).all },
  { what: 'types named once besides their declaration', bar: '40', of: ({ src }) => namedTypes(src).once },
  { what: 'files of src', bar: '500', of: ({ src }) => src.length },
  { what: 'lines of the median file', bar: '120', of: ({ src }) => medianLines(src) },
  { what: 'modules that one id loads (CSV)', bar: '165', of: ({ loaded }) => loaded.modules },
  { what: 'functions that one id runs (CSV)', bar: '1230', of: ({ loaded }) => loaded.functions },
  { what: 'names in the walk of a request', bar: '95', of: ({ src }) => namesIn(src, 'core/run/export-assets.ts') },
  {
    what: 'files outside places that import Disk',
    bar: '18',
    of: ({ src }) => importersOf(src, ['FileStore', 'Disk']),
  },
  { what: 'concepts', bar: '98', of: ({ root }) => concepts(root) },
];

interface Baseline {
  readonly commit: string;
  readonly oneIdAsCsv: Loaded;
}

/** The bars as a table: at the commit of `house.json`, now, and the difference. What takes minutes is in `npm run bench`. */
export function barTable(root: string, loaded: Loaded): string {
  const { commit, oneIdAsCsv } = JSON.parse(readFileSync(join(root, 'bench/house.json'), 'utf8')) as Baseline;
  const folder = mkdtempSync(join(tmpdir(), 'asset-export-house-'));
  try {
    const paths = ['src', 'packages', 'test', 'ARCHITECTURE.md'];
    const archive = execFileSync('git', ['archive', commit, ...paths], { cwd: root, maxBuffer: 1 << 28 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    const before = houseIn(folder, oneIdAsCsv);
    const now = houseIn(root, loaded);
    const rows = bars.map(({ what, bar, of }) => {
      const [first, last] = [of(before), of(now)];
      return row(what, [String(first), String(last), `${last < first ? '' : '+'}${last - first}`, bar]);
    });
    return [row(`bars, since ${commit.slice(0, 8)}`, ['then', 'now', 'change', 'bar']), ...rows, ''].join('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function row(what: string, cells: readonly string[]): string {
  return `  ${what.padEnd(44)}${cells.map((cell) => cell.padStart(9)).join('')}`;
}

function houseIn(root: string, loaded: Loaded): House {
  return { root, src: sourceFiles(join(root, 'src')), loaded };
}

function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}

function medianLines(files: readonly SourceFile[]): number {
  return files.map(({ lines }) => lines).sort((left, right) => left - right)[files.length >> 1] ?? 0;
}

/** An import is no use of a name. */
function namedTypes(files: readonly SourceFile[]): { readonly all: number; readonly once: number } {
  const declared: string[] = [];
  const uses = new Map<string, number>();
  for (const { tree } of files)
    visit(tree, (node) => {
      if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) declared.push(node.name.text);
      if (ts.isIdentifier(node) && !ts.isImportSpecifier(node.parent) && !ts.isExportSpecifier(node.parent))
        uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
    });
  // Its declaration is the other one.
  return { all: declared.length, once: declared.filter((name) => uses.get(name) === 2).length };
}

function namesIn(files: readonly SourceFile[], name: string): number {
  let names = 0;
  const file = files.find((each) => each.name === name);
  if (file === undefined) throw new Error(`${name} is not there: name the file that walks a request`);
  visit(file.tree, (node) => {
    if (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node))
      names += ts.isIdentifier(node.name) ? 1 : 0;
  });
  return names;
}

function importersOf(files: readonly SourceFile[], names: readonly string[]): number {
  return files.filter(({ name, tree }) => {
    const imported = new Set<string>();
    visit(tree, (node) => {
      if (ts.isImportSpecifier(node)) imported.add((node.propertyName ?? node.name).text);
    });
    return !name.startsWith('places/') && names.some((each) => imported.has(each));
  }).length;
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => {
    visit(child, look);
  });
}

/** Words of the table in `ARCHITECTURE.md`, and of the pages of the wings. */
function concepts(root: string): number {
  const [, table = ''] = /^## Words\n([^]*?)\n## /m.exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')) ?? [];
  const rows = [...table.matchAll(/^\| (?!word|---)([^|]*)/gm)].map(([, words = '']) => words);
  const wings = join(root, 'src/wings');
  const pages = readdirSync(wings).map((wing) => join(wings, wing, 'README.md'));
  const lists = pages
    .filter((page) => existsSync(page))
    .flatMap((page) => {
      const [, words = ''] = /\*\*Words\*\*: ([^]*?)\n- /.exec(readFileSync(page, 'utf8')) ?? [];
      return words === '' ? [] : [words.replaceAll(/\([^)]*\)/g, '')];
    });
  return [...rows, ...lists].reduce((sum, words) => sum + words.split(/[,;]/).length, 0);
}
