import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { diskFileStore, type FileStore } from '../store/file-store.ts';
import { reportPage } from './page/page.ts';
import { openDuckdbProfile } from './profile/duckdb-profile.ts';
import { type ProfileExtent, readReport } from './read-report.ts';
import type { ReportData } from './report-data.ts';

export interface WriteReport {
  readonly files: FileStore;
  /** Of the export, absolute. */
  readonly folder: string;
  /** Version of this program. */
  readonly version: string;
  readonly extent?: ProfileExtent | undefined;
  /** Threads that count the profile; as many as there are cores unless given. The report is the same for any number. */
  readonly threads?: number | undefined;
}

/**
 * What a report of an export shows.
 * @throws {ExportError} `usage` when there is no export in the folder, `damaged`, `cannotWrite` when there is no room for scratch files
 */
export async function reportData({ files, folder, version, extent, threads }: WriteReport): Promise<ReportData> {
  // On a disk of this machine, wherever the export lies.
  const scratch = join(tmpdir(), `asset-export-report-${randomUUID()}`);
  const openProfile = async () => {
    await diskFileStore.makeFolder(scratch);
    return openDuckdbProfile({ scratch, threads });
  };
  try {
    return await readReport({ files, folder, version, extent, openProfile });
  } finally {
    await diskFileStore.remove(scratch).catch(() => undefined);
  }
}

/** Writes a report's page under a temporary name and renames it. @param path absolute @throws {ExportError} `cannotWrite` */
export async function writePage(files: FileStore, path: string, page: string): Promise<void> {
  const temporary = `${path}.${process.pid}.new`;
  const file = await files.open(temporary, 'create');
  try {
    await file.write(Buffer.from(page));
    await file.close();
    await files.rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await files.remove(temporary).catch(() => undefined);
    throw error;
  }
}

/** Writes `report.html` into an export. @throws {ExportError} */
export async function writeReport(request: WriteReport): Promise<void> {
  const page = reportPage(await reportData(request));
  await writePage(request.files, pathIn(request.folder, exportPaths.report), page);
}
