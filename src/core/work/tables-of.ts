import { tableByName } from '../records/columns.ts';
import { type ShapedTable, shapeTable } from '../records/shape-table.ts';
import { type Table, isTextColumn } from '../records/table.ts';
import { childTables, recordPlan } from '../records/scan/record-plan.ts';
import { RecordRows } from '../records/scan/record-rows.ts';
import type { OpenReader } from '../client/asset-client.ts';
import { hasBase } from '../job/night-names.ts';
import type { Job } from '../job/job-schema.ts';
import type { Begun } from '../../places/export/export-facts.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { RowBlock } from '../records/row-block.ts';

/** The tables of a job as it wants them, for an export that began so. @throws {ExportError} `usage` for a name that is none. */
export function tablesOf({ output, base }: Pick<Job, 'output' | 'base'>, { startedAtMs }: Begun): ShapedTable[] {
  const { columns, exclude, rename, exportedAt, proofs } = output;
  const shape = {
    columns,
    exclude,
    rename,
    hasFetchedAt: hasBase({ base }),
    hasProofs: proofs,
    ...(exportedAt ? { exportedAtUs: startedAtMs * 1000 } : {}),
  };
  return output.tables.map((name) => {
    const table = tableByName(name);
    if (table === undefined) throw new ExportError('usage', `${name} is not a table`);
    return shapeTable(table, shape);
  });
}

/** Makes the rows of these tables from the records of answers. */
export function readerOf(shaped: readonly ShapedTable[]): OpenReader<RecordRows> {
  const plan = recordPlan(listsOf(shaped));
  return (body) => new RecordRows(body, plan);
}

/** Whether rows of child tables are made. */
export function makesChildRows(shaped: readonly ShapedTable[]): boolean {
  return listsOf(shaped).length > 0;
}

function listsOf(shaped: readonly ShapedTable[]): Table[] {
  const written = shaped.map(({ whole }) => whole);
  return childTables.filter((table) => written.includes(table));
}

/** Finds the longest value of each text column of the tables of a part, by the lengths that encoders write. */
export class LongestTexts {
  readonly #tables: { readonly name: string; readonly places: Int32Array; readonly longest: Int32Array }[];

  constructor(tables: readonly Table[]) {
    this.#tables = tables.map(({ name, columns }) => {
      const places = columns.flatMap((column, place) => (isTextColumn(column) ? [place] : []));
      return { name, places: Int32Array.from(places), longest: new Int32Array(places.length) };
    });
  }

  add(rows: ReadonlyMap<string, readonly RowBlock[]>): void {
    for (const { name, places, longest } of this.#tables) {
      for (const block of rows.get(name) ?? []) raise(longest, places, block);
    }
  }

  /** By table, in the order of its text columns. */
  maxBytes(): Record<string, number[]> {
    return Object.fromEntries(this.#tables.map(({ name, longest }) => [name, [...longest]]));
  }
}

function raise(longest: Int32Array, places: Int32Array, { rows, width, length }: RowBlock): void {
  for (let row = 0; row < rows; row += 1) {
    const base = row * width;
    for (let at = 0; at < places.length; at += 1) {
      const bytes = length[base + (places[at] ?? 0)] ?? 0;
      if (bytes > (longest[at] ?? 0)) longest[at] = bytes;
    }
  }
}
