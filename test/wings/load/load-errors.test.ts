import { expect, it } from 'vitest';
import { loadError } from '../../../src/wings/load/load-errors.ts';

it.each([
  ['Conversion Error', 'loadFailed'],
  ['Out of Memory Error', 'cannotWrite'],
])('a %s that repeats a whole value is cut, not its ends, and secrets are hidden where it is cut', (kind, exit) => {
  for (let shift = 0; shift < 40; shift += 1) {
    const long = `${'x'.repeat(700 + shift)} postgres://me:hunter2hunter2@db/a ${'y'.repeat(300_000)}`;
    const tail = `postgres://me:hunter2hunter2@db/a ${'z'.repeat(180 + shift)} in column burnt`;
    const error = new Error(`${kind}: Could not convert string '${long}' ${tail}`);
    const found = loadError(error, { shown: 'duckdb:a.db', folder: 'out', format: 'csv', moment: 'before' });
    expect(found.exit).toBe(exit);
    expect(found.message.length).toBeLessThan(1100);
    expect(found.message).toMatch(/^duckdb:a.db: \w.* Error: Could not convert string 'x.*z in column burnt$/);
    expect(found.message).not.toContain('hunter2@');
  }
});
