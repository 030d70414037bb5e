import { doubleQuoted } from '../../../lib/sql-text.ts';
import { tableFunctionOf } from '../../../exports/duckdb-files.ts';
import { assetCards } from './asset-cards.ts';
import { profileTable } from './column-profiles.ts';
import { type DuckdbSession, openSession, type SessionOptions } from './duckdb-session.ts';
import type { ProfiledTable, ProfileSource, TableProfile } from './profile-source.ts';

/** Profiles by exact queries of DuckDB. @throws {ExportError} `usage` when DuckDB is not installed */
export async function openDuckdbProfile(options: SessionOptions): Promise<ProfileSource> {
  const session = await openSession(options);
  return {
    profile: async (tables) => {
      for (const table of tables) await attach(session, table);
      const profiles: TableProfile[] = [];
      for (const { source } of tables) profiles.push(await profileTable(session, source.table));
      const known = tables.map(({ source }) => source.table);
      return { tables: profiles, cards: await assetCards(session, known) };
    },
    close: async () => {
      session.close();
    },
  };
}

/** Longest row that is read first: DuckDB's buffers for CSV are 16 times as large. */
const usualRowBytes = 4 << 20;

/** Parquet is read in place, column by column. Of other formats a column costs the whole file, so they are copied once. */
async function attach(session: DuckdbSession, { source }: ProfiledTable): Promise<void> {
  const kind = source.format === 'parquet' ? 'VIEW' : 'TABLE';
  const create = `CREATE OR REPLACE ${kind} ${doubleQuoted(source.table.name)} AS SELECT * FROM`;
  try {
    await session.run(`${create} ${tableFunctionOf(source, usualRowBytes)}`);
  } catch {
    // A longer row takes more memory than a profile should. A file that cannot be read fails again.
    await session.run(`SET threads = 1; SET memory_limit = '4GB'`);
    await session.run(`${create} ${tableFunctionOf(source)}`);
  }
}
