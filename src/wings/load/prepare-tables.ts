import type { LoadPlan } from '../warehouse/index.ts';
import type { Column, Table } from '../../core/records/table.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/export-error.ts';
import type { Database } from './database.ts';
import { addedRecordColumns, loadsTable } from './load-record.ts';
import { lockNotGranted } from './load-errors.ts';
import { marksColumn } from './marks.ts';
import { beginOf, standardLockTimeoutMs } from './opening.ts';
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
  readonly guards: () => Promise<void>;
  readonly clock: Clock;
  readonly note: (text: string) => void;
}

/**
 * Adds columns that existing tables lack, in a short transaction of its own: inside the load it would hold readers back to the end.
 * @throws {ExportError} `loadFailed` with the statements when the role may not, or when it was told not to
 */
export async function prepareTables(database: Database, plan: LoadPlan, options: PrepareOptions): Promise<void> {
  const { note } = options;
  const columns = await columnsToAdd(database, plan, options);
  const own = columns.filter(({ table }) => table === loadsTable);
  const others = columns.filter(({ table }) => table !== loadsTable);
  // The guards read the record of loads.
  await addPatiently(database, own, { ...options, all: columns });
  if (others.length > 0) await options.guards();
  await addPatiently(database, others, { ...options, all: others });
  for (const { table, column, type } of others) note(`the table ${table} has a new column: ${column} ${type}`);
}

/** @param all the columns that the owner adds where the role may not */
async function addPatiently(
  database: Database,
  columns: readonly NewColumn[],
  { schema, clock, all }: PrepareOptions & { readonly all: readonly NewColumn[] },
): Promise<void> {
  if (columns.length === 0) return;
  const limitMs = await lockLimitMs(database);
  const sinceMs = clock.now();
  for (;;) {
    try {
      await addColumns(database, schema, { columns, all });
      break;
    } catch (error) {
      await database.run('ROLLBACK');
      if (codeOf(error) !== lockNotGranted || clock.now() - sinceMs + pauseMs > limitMs) throw error;
      await clock.sleep(pauseMs);
    }
  }
}

/**
 * A new column waits for all transactions that have read the table, and later readers wait behind it: it is tried for a short time,
 * again and again. In milliseconds.
 */
const [tryMs, pauseMs] = [300, 1000] as const;

/** How long a load waits for a lock, in milliseconds. */
async function lockLimitMs(database: Database): Promise<number> {
  if (database.kind === 'duckdb') return 0;
  const [[ms] = []] = await database.rows(`SELECT setting FROM pg_settings WHERE name = 'lock_timeout'`);
  return Number(ms) === 0 ? standardLockTimeoutMs : Number(ms);
}

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

async function addColumns(
  database: Database,
  schema: string | undefined,
  { columns, all }: { readonly columns: readonly NewColumn[]; readonly all: readonly NewColumn[] },
): Promise<void> {
  await database.run(beginOf[database.kind]);
  try {
    if (database.kind === 'postgres') await database.run(`SET LOCAL lock_timeout = ${tryMs}`);
    for (const sql of columns.flatMap((column) => statementsOf(schema, column))) await database.run(sql);
    await database.run('COMMIT');
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    const names = all.map(({ table, column }) => `${table}.${column}`).join(', ');
    const statements = all.flatMap((column) => statementsOf(schema, column));
    throw statementsForOwner(`the role may not add the columns ${names}`, statements);
  }
}

function statementsOf(schema: string | undefined, column: NewColumn): string[] {
  return [addColumn(schema, column), ...(column.about === '' ? [] : [describeColumn(schema, column)])];
}

const insufficientPrivilege = '42501';
