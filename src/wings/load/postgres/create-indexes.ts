import type { LoadPlan } from '../../warehouse/index.ts';
import { type Column, wholeName } from '../../../core/records/table.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import type { Database } from '../database.ts';
import { postgresBlock } from '../sql-words.ts';
import { filledTables, nameIn } from '../table-columns.ts';
import { notMade } from './not-made.ts';

/** The columns that people search, by table. */
const searched: Readonly<Record<string, readonly string[]>> = {
  assets: ['collection', 'ownership_owner'],
  creators: ['address'],
  attributes: ['value'],
};

/**
 * Statements of PostgreSQL that create the indexes. SP-GiST takes values of any length: a B-tree refuses one above about 2,700 bytes, and
 * then every later load.
 */
function indexStatements(plan: LoadPlan, schema: string | undefined) {
  return filledTables(plan).flatMap((table) => {
    const columns = searched[table.name.slice(plan.prefix.length)] ?? [];
    const isSearched = (column: Column): boolean => column.type === 'string' && columns.includes(wholeName(column));
    return table.columns.filter(isSearched).map(({ name }) => {
      const index = `${table.name}_${name}_spgist`;
      const on = `${nameIn(schema, table.name)} USING spgist (${doubleQuoted(name)})`;
      const create = `CREATE INDEX IF NOT EXISTS ${doubleQuoted(index)} ON ${on};`;
      // CREATE INDEX IF NOT EXISTS needs the owner also where the index is there.
      const isAbsent = `to_regclass(${literal(nameIn(schema, index))}) IS NULL`;
      return { index, create, sql: postgresBlock(`IF ${isAbsent} THEN ${create} END IF;`) };
    });
  });
}

/** Creates the indexes that are absent, after the rows are kept. @throws {ExportError} `loadFailed` or `unavailable` when one cannot be created */
export async function createIndexes(database: Database, plan: LoadPlan, schema: string | undefined): Promise<void> {
  for (const { index, create, sql } of indexStatements(plan, schema)) {
    try {
      await database.run(sql);
    } catch (error) {
      throw notMade(`the index ${index}`, error, `Fix the cause, then run as the owner of the table:\n${create}`);
    }
  }
}
