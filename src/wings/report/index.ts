export { reportPage } from './page/page.ts';
export type { ProfileExtent } from './read-report.ts';
export type { ReportData } from './report-data.ts';
export { putReport, readExportReport } from './report-export.ts';
export { reportRun } from './report-run.ts';
export { writePage } from './write-report.ts';
