export { exportFolders, type ExportStatus, statusAt } from './export-status.ts';
