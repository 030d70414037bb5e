import { ExportError } from '../../lib/export-error.ts';

/**
 * A job may give columns of `assets` any names.
 * @param where the export, for messages
 * @param reserved names of columns that `needs` adds
 * @throws {ExportError} `usage` when a column has one of these names; databases hold names that differ in case alone for one
 */
export function requireFreeNames(
  where: string,
  names: readonly string[],
  reserved: readonly string[],
  needs: string,
): void {
  const taken = names.find((name) => reserved.includes(name.toLowerCase()));
  if (taken === undefined) return;
  throw new ExportError('usage', `${where} has the column ${taken}, and ${needs} adds a column of this name`, {
    todo: 'Give the column another name in the job (output.rename), and export again.',
  });
}
