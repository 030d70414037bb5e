import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const built = new URL('../../dist/', import.meta.url);

/** The packages that a built file and those it imports load before they begin; what `import()` brings comes later. */
function packagesOf(entry: string): string[] {
  const files = new Set([new URL(entry, built).href]);
  const packages = new Set<string>();
  for (const file of files) {
    const text = readFileSync(new URL(file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?:[^;]*? from )?['"]([^'"]+)['"]/gm)) {
      if (name.startsWith('.')) files.add(new URL(name, file).href);
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return [...packages].sort();
}

describe('a start', () => {
  it('of a thread loads what it fetches, checks and writes with, and no more', () => {
    expect(packagesOf('pipeline/threads/worker-entry.js')).toEqual(['csv-stringify/sync', 'undici']);
  });

  it('of a run waits for no format, job file or ledger that it may not need', () => {
    const run = ['cli/run-command.js', 'cli/parse-arguments.js', 'pipeline/export-assets.js', 'cli/progress-log.js'];
    expect([...new Set(run.flatMap(packagesOf))].sort()).toEqual([
      'csv-stringify/sync',
      'fastest-levenshtein',
      'p-queue',
      'pino',
      'undici',
      'yargs',
      'zod',
    ]);
  });

  it('of a help loads what guesses names, and for a command what tells its flags', () => {
    expect(packagesOf('main.js')).toEqual(['fastest-levenshtein']);
    expect(packagesOf('cli/run-command.js')).toEqual(['fastest-levenshtein', 'zod']);
  });
});
