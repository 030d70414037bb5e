import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const built = new URL('../../dist/', import.meta.url);
const files = ['main.js', 'worker.js', ...readdirSync(new URL('chunks', built)).map((name) => `chunks/${name}`)];
const texts = new Map(
  files.map((name) => new URL(name, built).href).map((file) => [file, readFileSync(new URL(file), 'utf8')]),
);

/** The packages that a source and all it imports load before they begin, in the bundles; what `import()` brings comes later. */
function packagesOf(source: string): string[] {
  const loaded = new Set([...texts.keys()].filter((file) => isIn(file, source)));
  expect(loaded.size, source).toBe(1);
  const packages = new Set<string>();
  for (const file of loaded) {
    const text = texts.get(file) ?? '';
    for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^;]*?['"]([^'"]+)['"];$/gm)) {
      if (name.startsWith('.')) loaded.add(new URL(name, file).href);
      else if (!isBuiltin(name)) packages.add(name);
    }
    for (const [, name = ''] of text.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)) packages.add(name);
  }
  return [...packages].sort();
}

function packagesOfAll(...sources: readonly string[]): string[] {
  return [...new Set(sources.flatMap(packagesOf))].sort();
}

/** Each source stands under its name in the bundle. */
function isIn(file: string, source: string): boolean {
  return texts.get(file)?.split('\n').includes(`// src/${source}`) === true;
}

describe('a start', () => {
  it('of a thread loads what it fetches, checks and writes with, and no more', () => {
    expect(packagesOf('core/work/threads/worker-entry.ts')).toEqual(['undici']);
  });

  it('of a run waits for no format or ledger that it may not need, and for no server', () => {
    expect(packagesOfAll('cli/commands/run-command.ts', 'cli/parse-arguments.ts', 'core/run/export-assets.ts')).toEqual(
      ['eventemitter3', 'p-queue', 'p-timeout', 'undici', 'yaml', 'yargs-parser', 'zod'],
    );
    expect(packagesOf('cli/progress/progress-log.ts')).toContain('pino');
  });

  it('of a plan loads nothing that sends, and without a base nothing that reads one', () => {
    expect(packagesOfAll('cli/commands/plan-command.ts', 'cli/parse-arguments.ts', 'core/run/plan-export.ts')).toEqual([
      'yaml',
      'yargs-parser',
      'zod',
    ]);
    expect(packagesOf('cli/commands/plan-command.ts')).toEqual(['yaml', 'zod']);
  });

  it('of a help loads no package, and for a command those that know its flags', () => {
    expect(packagesOf('cli/command-line.ts')).toEqual([]);
    expect(packagesOf('cli/commands/run-command.ts')).toEqual(['yaml', 'zod']);
  });

  it('of a run on a folder loads no wing, no cloud, and nothing that is done for other machines', async () => {
    const folder = await tempFolder();
    const service = await startGeneratedService();
    onTestFinished(() => service.stop());
    await writeIdFile(join(folder, 'ids.txt'), { entries: 40 });
    const args = ['run', '--ids', 'ids.txt', '--url', service.url, '--out', 'out', '--format', 'csv,parquet'];
    const environment = {
      ASSET_EXPORT_API_KEY: 'key',
      ASSET_EXPORT_STATE: join(folder, 'state'),
      // Node writes there which files it loaded.
      NODE_V8_COVERAGE: join(folder, 'loaded'),
    };
    const run = await runProgram([...args, '--ids-per-call', '10', '--threads', '2'], { cwd: folder, environment });
    expect(run).toMatchObject({ exit: 0 });
    const loaded = readdirSync(join(folder, 'loaded')).map((name) =>
      readFileSync(join(folder, 'loaded', name), 'utf8'),
    );
    const sources = [...texts]
      .filter(([file]) => loaded.some((text) => text.includes(`"${file}"`)))
      .flatMap(([, text]) => [...text.matchAll(/^\/\/ src\/(.*)$/gm)].map(([, source = '']) => source));
    expect(sources).toContain('core/run/homes/claim-slice.ts');
    const forOthers =
      /^(wings|places\/objects\/(s3|gcs|azure|bucket|probe|store-retries)|places\/log\/heartbeat|core\/run\/homes\/(among|kept|shared|slice-holders))/;
    expect(sources.filter((source) => forOthers.test(source))).toEqual([]);
  });
});
