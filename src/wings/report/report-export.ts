import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { reportPage } from './page/page.ts';
import type { ReportData } from './report-data.ts';
import { reportData, type ReportOptions, writePage } from './write-report.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { standingAt } from '../../core/run/homes/standing.ts';

export interface ReportedExport extends Pick<ReportOptions, 'version' | 'extent' | 'mostRows' | 'threads'> {
  readonly place: ExportPlace;
  readonly nowMs: number;
}

/** What a report shows of an export in any state. @throws {ExportError} `usage` where there is none, `damaged`, `cannotWrite` */
export async function readExportReport({ place, nowMs, ...rest }: ReportedExport): Promise<ReportData> {
  const { files, folder, store } = place;
  const standing = await standingAt(place, nowMs);
  return reportData({ files, folder, standing, nowMs, isLocal: !store.isShared, ...rest });
}

/** Puts a page into an export as its report. @throws {ExportError} `cannotWrite` */
export async function putReport({ disk, folder, store }: ExportPlace, page: string): Promise<void> {
  if (disk === undefined) await store.put(exportPaths.report, { bytes: Buffer.from(page) });
  else await writePage(disk, pathIn(folder, exportPaths.report), page);
}

/** Writes `report.html` into an export, and gives what it shows. @throws {ExportError} */
export async function reportExport(request: ReportedExport): Promise<ReportData> {
  const data = await readExportReport(request);
  await putReport(request.place, reportPage(data));
  return data;
}
