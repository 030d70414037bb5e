import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyFiles } from '../../exports/copy-export.ts';
import { diskFileStore, type FileStore, writeWhole } from '../../places/files/file-store.ts';
import { openDuckdbProfile } from './profile/duckdb-profile.ts';
import { readReport, type ReportRequest } from './read-report.ts';
import type { ReportData } from './report-data.ts';

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
    await diskFileStore.makeFolder(scratch);
    return openDuckdbProfile({ scratch, threads });
  };
  const localFiles = async (paths: readonly string[]): Promise<string> => {
    if (isLocal) return folder;
    const target = join(scratch, 'export');
    await copyFiles({ from: files, folder, to: diskFileStore, target }, paths);
    return target;
  };
  try {
    return await readReport({ ...options, openProfile, localFiles });
  } finally {
    await diskFileStore.remove(scratch).catch(() => undefined);
  }
}

/** Writes the page of a report. @param path absolute @throws {ExportError} `cannotWrite` */
export async function writePage(files: FileStore, path: string, page: string): Promise<void> {
  await writeWhole(files, { path, temporary: `${path}.${process.pid}.new` }, (file) => file.write(Buffer.from(page)));
}
