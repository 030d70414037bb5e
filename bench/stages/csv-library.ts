import { stringify } from 'csv-stringify';
import { assetsTable } from '../../src/records/columns.ts';

/** Cells as the library takes them: lists and objects are JSON text. */
export function cellsOf(record: unknown): unknown[] {
  return assetsTable.columns.map(({ path }) => {
    let value: unknown = path.length === 0 ? null : record;
    for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  });
}

/** csv-stringify as a stream of arrays, its fastest way. */
export async function writeWithLibrary(rows: readonly (readonly unknown[])[]): Promise<void> {
  const stream = stringify({ cast: { boolean: String, number: String }, quoted_match: /^$/ });
  stream.resume();
  for (const [index, row] of rows.entries()) {
    stream.write(row);
    if (index % 1000 === 999) await new Promise(setImmediate);
  }
  const ended = new Promise((resolve) => stream.once('end', resolve));
  stream.end();
  await ended;
}
