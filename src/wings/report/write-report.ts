import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyFiles } from '../../exports/copy-export.ts';
import { type Disk, localDisk, writeWhole } from '../../places/files/disk.ts';
import { readReport, type ReportRequest } from './read-report.ts';
import type { ReportData } from './report-data.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import { tableFunctionOf } from '../../exports/duckdb-files.ts';
import { assetCards } from './profile/asset-cards.ts';
import { profileTable } from './profile/column-profiles.ts';
import { type DuckdbSession, openSession, type SessionOptions } from './profile/duckdb-session.ts';
import type { ProfiledTable, ProfileSource, TableProfile } from './profile/profile-source.ts';

export interface ReportOptions extends Omit<ReportRequest, 'openProfile' | 'localFiles'> {
  /** Whether the files are on a disk of this machine; others are copied to one for DuckDB. */
  readonly isLocal: boolean;
  /** Threads that count the profile; one unless given. The report is the same for any number. */
  readonly threads?: number | undefined;
}

/**
 * What a report of an export shows.
 * @throws {ExportError} `damaged`, `cannotWrite` when there is no room for scratch files
 */
export async function reportData({ isLocal, threads, ...options }: ReportOptions): Promise<ReportData> {
  const { files, folder } = options;
  const scratch = join(tmpdir(), `asset-export-report-${randomUUID()}`);
  const openProfile = async () => {
    await localDisk.makeFolder(scratch);
    return openDuckdbProfile({ scratch, threads });
  };
  const localFiles = async (paths: readonly string[]): Promise<string> => {
    if (isLocal) return folder;
    const target = join(scratch, 'export');
    await copyFiles({ from: files, folder, to: localDisk, target }, paths);
    return target;
  };
  try {
    return await readReport({ ...options, openProfile, localFiles });
  } finally {
    await localDisk.remove(scratch).catch(() => undefined);
  }
}

/** Writes the page of a report. @param path absolute @throws {ExportError} `cannotWrite` */
export async function writePage(files: Disk, path: string, page: string): Promise<void> {
  await writeWhole(files, { path, temporary: `${path}.${process.pid}.new` }, (file) => file.write(Buffer.from(page)));
}

/** Profiles by exact queries of DuckDB. @throws {ExportError} `usage` when DuckDB is not installed */
async function openDuckdbProfile(options: SessionOptions): Promise<ProfileSource> {
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
