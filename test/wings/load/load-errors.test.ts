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

it.each([
  [
    '3D000',
    'database "nft data" does not exist',
    "Create the database (createdb -h db -p 5433 'nft data'), then load again.",
  ],
  ['28000', 'role "me" does not exist', 'Check the user of --to, PGPASSWORD and pg_hba.conf of the server'],
  ['28P01', 'password authentication failed for user "me"', 'Check the user of --to, PGPASSWORD'],
])('where no session begins (%s), the error says that nothing was loaded and what to do', (code, message, todo) => {
  const error = Object.assign(new Error(message), { code });
  const found = loadError(error, { shown: 'postgres://db:5433/a', folder: 'out', format: 'csv', moment: 'before' });
  expect(found.message).toBe(`postgres://db:5433/a: ${message}`);
  expect(found.todo).toContain('Nothing was loaded. ');
  expect(found.todo).toContain(todo);
});
