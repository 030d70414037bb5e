export { exportFolders, exportStatus, type ExportStatus, statusAt } from './export-status.ts';
