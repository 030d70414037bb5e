import { ExportError } from '../../lib/export-error.ts';

/** Columns that hold the id where the user names none, the likelier first. */
const usual = ['id', 'mint'];

/**
 * The place of the id among column names: the column asked for, else `id`, else `mint`, else the first. Letter case
 * matters only where two names differ by nothing else. Undefined when the column asked for is not there.
 */
export function pickColumn(names: readonly string[], column: string | undefined): number | undefined {
  return namedColumn(names, column) ?? (column === undefined && names.length > 0 ? 0 : undefined);
}

/** The same, but undefined, too, where no name is `id` or `mint`. */
export function namedColumn(names: readonly string[], column: string | undefined): number | undefined {
  for (const name of column === undefined ? usual : [column]) {
    const exact = names.indexOf(name);
    if (exact >= 0) return exact;
    const alike = names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
    if (alike >= 0) return alike;
  }
  return undefined;
}

/** The error for a column that the user asked for and the file lacks. */
export function missingColumn(where: string, column: string, names: readonly string[]): ExportError {
  return new ExportError('input', `${where} has no column "${column}"; it has: ${namesText(names)}`, {
    todo: 'Name one of these with --id-column or ids.column.',
  });
}

/** Names of columns, as many and as long as a message should have. */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, 30).map((name) => (name.length > 60 ? `${name.slice(0, 60)}…` : name));
  return `${shown.join(', ')}${names.length > shown.length ? `, and ${names.length - shown.length} more` : ''}`;
}
