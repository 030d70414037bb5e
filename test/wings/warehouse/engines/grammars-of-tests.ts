import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll } from 'vitest';
import { keptFolder } from '../../../support/temp-folder.ts';
import { enginesFolder, isInstalled } from './engine-packages.ts';

const parsers = { trino: 'TrinoSQL', spark: 'SparkSQL', hive: 'HiveSQL' } as const;
export type GrammarName = keyof typeof parsers;

type Parsers = Readonly<
  Record<(typeof parsers)[GrammarName], new () => { validate(sql: string): { readonly message: string }[] }>
>;

/** Why the grammar of an engine refuses a script; undefined where it takes it. */
export type GrammarProblem = (grammar: GrammarName, script: string) => string | undefined;

/**
 * Loads the grammars of Trino, Spark and Hive; undefined where they are not installed.
 * @param untested what is not tested without them
 */
export async function grammarsOfTests(untested: string): Promise<GrammarProblem | undefined> {
  if (!isInstalled('dt-sql-parser', untested)) return undefined;
  const { path, remove } = await keptFolder();
  afterAll(remove);
  // The package imports folders, which Node refuses: it is meant for bundlers.
  const folder = join(enginesFolder, 'node_modules/dt-sql-parser/dist/parser');
  const bundle = await rolldown({
    input: Object.fromEntries(Object.keys(parsers).map((name) => [name, join(folder, name, 'index.js')])),
    platform: 'node',
    external: (id) => isBuiltin(id),
  });
  await bundle.write({ dir: path, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
  await bundle.close();
  const modules = await Promise.all(
    Object.keys(parsers).map(
      (name) => import(pathToFileURL(join(path, `${name}.mjs`)).href) as Promise<Partial<Parsers>>,
    ),
  );
  const known = Object.assign({}, ...modules) as Parsers;
  return (grammar, script) => new known[parsers[grammar]]().validate(script)[0]?.message;
}
