import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf, ExportError, messageOf } from '../export-error.ts';
import { packageRoot } from './package-root.ts';
import { shellWord } from '../addresses/shown-text.ts';

/** What stands for a package, or a part of it, that is not there. A binary for another system cannot be opened. */
const absent: ReadonlySet<string> = new Set([
  ...['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED', 'ERR_INVALID_PACKAGE_CONFIG'],
  ...['ERR_PACKAGE_PATH_NOT_EXPORTED', 'ERR_UNSUPPORTED_DIR_IMPORT', 'ENOENT'],
]);

export interface Optional<T> {
  /** What needs the packages, for the message: `an S3 bucket`. */
  readonly what: string;
  readonly packages: readonly string[];
  readonly load: () => Promise<T>;
  /** What to do where they cannot be installed, as a sentence. */
  readonly instead?: string;
}

/**
 * Loads optional packages.
 * @throws {ExportError} `usage`, with the line that installs them, when one is not installed or not completely
 */
export async function loadOptional<T>({ what, packages, load, instead }: Optional<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!absent.has(codeOf(error) ?? '')) throw error;
    const [noun, verb] = packages.length === 1 ? ['package', 'is'] : ['packages', 'are'];
    const [first = ''] = messageOf(error).split('\n');
    const isAbsent = packages.some((name) => first.includes(`'${name}'`));
    const why = isAbsent ? 'not installed' : `not completely installed (${first})`;
    throw new ExportError('usage', `${what} needs the ${noun} ${packages.join(' and ')}, which ${verb} ${why}`, {
      todo: [installLine(packages), ...(instead === undefined ? [] : [instead])].join('\n'),
      cause: error,
    });
  }
}

/** Where a copy of the program lies, and who wants to install something beside it. */
interface InstallPlace {
  /** Folder of the package, without links. */
  readonly root: string;
  /** The Node.js that runs it. */
  readonly node: string;
  readonly workingFolder: string;
}

/**
 * The command that installs packages where this copy of the program finds them, in the versions that were tested: beside a global
 * installation, in the project that holds the program, or in a clone.
 */
export function installLine(packages: readonly string[], place: InstallPlace = thisPlace()): string {
  const { root, node, workingFolder } = place;
  const modules = dirname(root);
  const at = (flag: string, folder: string): string => (folder === '' ? '' : ` ${flag} ${shellWord(folder)}`);
  // A clone has the packages among those of its tests.
  if (basename(modules) !== 'node_modules') {
    return `npm ci${at('--prefix', root === projectAbove(workingFolder) ? '' : root)} --include=dev --include=optional`;
  }
  const named = packages.map((name) => `${name}@${testedVersion(root, name)}`).join(' ');
  const [pnpm, inPnpm] = root.split(/[/\\]node_modules[/\\]\.pnpm[/\\]/);
  if (pnpm !== undefined && inPnpm !== undefined) return `pnpm add${at('--dir', pnpm)} ${named}`;
  const holder = dirname(modules);
  if (existsSync(join(holder, 'package.json'))) {
    return `npm install${at('--prefix', holder === projectAbove(workingFolder) ? '' : holder)} ${named}`;
  }
  const prefix = basename(holder) === 'lib' ? dirname(holder) : holder;
  const line = `npm install --global${at('--prefix', prefix === dirname(dirname(node)) ? '' : prefix)} ${named}`;
  return isWritable(modules)
    ? line
    : `${line}\nRun it as a user who may write to ${modules}; in an image, as a RUN line of its Dockerfile.`;
}

function thisPlace(): InstallPlace {
  return {
    root: fileURLToPath(packageRoot).replace(/[/\\]$/, ''),
    node: process.execPath,
    workingFolder: process.cwd(),
  };
}

/** The folder in which npm works: the nearest one with a package.json. */
function projectAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
  return projectAbove(dirname(folder));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Optional and peer packages are named in package.json alone. */
function testedVersion(root: string, name: string): string {
  const { optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<'optionalDependencies' | 'peerDependencies', Readonly<Record<string, string>>>;
  return (optionalDependencies[name] ?? peerDependencies[name] ?? 'latest').replace(/^\^/, '');
}

/**
 * The optional package of DuckDB.
 * @param what what needs it, for the message
 * @param instead what to do without it, as a sentence
 * @throws {ExportError} `usage` when it is not installed, or not for this system
 */
export function loadDuckdb(what: string, instead?: string): Promise<typeof import('@duckdb/node-api')> {
  const request = { what, packages: ['@duckdb/node-api'], load: () => import('@duckdb/node-api') };
  return loadOptional(instead === undefined ? request : { ...request, instead });
}
