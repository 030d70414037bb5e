import type { LoadPlan } from '../warehouse/index.ts';
import type { Column, Table } from '../../core/records/table.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/export-error.ts';
import type { Database } from './database.ts';
import { addedRecordColumns, loadsTable } from './load-record.ts';
import { marksColumn } from './marks.ts';
import { changePatiently } from './opening.ts';
import {
  addColumn,
  describeColumn,
  filledTables,
  lackingColumns,
  type NewColumn,
  statementsForOwner,
} from './table-columns.ts';

export const newColumnRules = ['add', 'fail'] as const;

export interface PrepareOptions {
  readonly schema?: string | undefined;
  /** What becomes of columns that an existing table lacks. Default: `add`. */
  readonly newColumns?: (typeof newColumnRules)[number] | undefined;
  /** Whether the load needs the column that marks deleted assets. */
  readonly hasMarks: boolean;
  /** Refuses the load before a table of the user changes. */
  readonly guards: (lacksColumns: boolean) => Promise<void>;
  readonly clock: Clock;
  readonly note: (text: string) => void;
}

/**
 * Adds columns that existing tables lack, in a short transaction of its own: inside the load it would hold readers back to the end.
 * Resolves to whether there are new columns of the export.
 * @throws {ExportError} `loadFailed` with the statements when the role may not, or when it was told not to
 */
export async function prepareTables(database: Database, plan: LoadPlan, options: PrepareOptions): Promise<boolean> {
  const { note } = options;
  const columns = await columnsToAdd(database, plan, options);
  const own = columns.filter(({ table }) => table === loadsTable);
  const others = columns.filter(({ table }) => table !== loadsTable);
  // The guards read the record of loads.
  await addColumns(database, own, { ...options, all: columns });
  const isNew = others.some(({ column, about }) => column !== marksColumn.name || about !== marksColumn.about);
  if (others.length > 0) await options.guards(isNew);
  await addColumns(database, others, { ...options, all: others });
  for (const { table, column, type } of others) note(`the table ${table} has a new column: ${column} ${type}`);
  return isNew;
}

/** @param all the columns that the owner adds where the role may not */
async function addColumns(
  database: Database,
  columns: readonly NewColumn[],
  { schema, clock, all }: PrepareOptions & { readonly all: readonly NewColumn[] },
): Promise<void> {
  if (columns.length === 0) return;
  try {
    await changePatiently(database, clock, async () => {
      for (const sql of columns.flatMap((column) => statementsOf(schema, column))) await database.run(sql);
    });
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    const names = all.map(({ table, column }) => `${table}.${column}`).join(', ');
    const statements = all.flatMap((column) => statementsOf(schema, column));
    throw statementsForOwner(`the role may not add the columns ${names}`, statements);
  }
}

export const insufficientPrivilege = '42501';

async function columnsToAdd(
  database: Database,
  plan: LoadPlan,
  { schema, hasMarks, newColumns }: PrepareOptions,
): Promise<NewColumn[]> {
  const columns: NewColumn[] = [];
  for (const table of filledTables(plan)) columns.push(...(await lackingColumns(database, schema, table)));
  if (columns.length > 0 && newColumns === 'fail') {
    const names = columns.map(({ table, column }) => `${table}.${column}`).join(', ');
    const statements = columns.map((column) => addColumn(schema, column));
    throw statementsForOwner(`the database lacks the columns ${names}`, statements);
  }
  const own: Table[] = [{ name: loadsTable, columns: recordColumnsOf() }];
  if (hasMarks) own.push({ name: `${plan.prefix}assets`, columns: [marksColumn] });
  for (const table of own) {
    const lacking = await lackingColumns(database, schema, table);
    columns.push(...lacking.map((each) => ({ ...each, type: recordTypes.get(each.column) ?? each.type })));
  }
  return columns;
}

const recordTypes: ReadonlyMap<string, string> = new Map(addedRecordColumns);

function recordColumnsOf(): Column[] {
  return addedRecordColumns.map(([name]) => ({ name, type: 'string', nullable: true, path: [], about: '' }));
}

function statementsOf(schema: string | undefined, column: NewColumn): string[] {
  return [addColumn(schema, column), ...(column.about === '' ? [] : [describeColumn(schema, column)])];
}
