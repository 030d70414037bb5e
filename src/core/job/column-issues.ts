import { assetsTable, changeColumns, changesTable, fetchedAt } from '../records/columns.ts';
import { exportedAt } from '../records/shape-table.ts';
import { nearestName } from '../../lib/nearest-name.ts';

export interface ColumnChoice {
  readonly columns?: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  readonly exportedAt: boolean;
  readonly tables: readonly string[];
}

/** A mistake in the choice of columns, and where it stands below `output`. */
export interface ColumnIssue {
  readonly path: readonly (string | number)[];
  readonly input: unknown;
  readonly message: string;
}

/** Names that are no column, are given twice, or leave nothing. */
export function columnIssues(choice: ColumnChoice): ColumnIssue[] {
  const known = [...assetsTable.columns.map(({ name }) => name), ...(choice.exportedAt ? [exportedAt.name] : [])];
  const found: ColumnIssue[] = [];
  for (const list of ['columns', 'exclude'] as const) {
    for (const [index, name] of (choice[list] ?? []).entries()) {
      if (!known.includes(name)) found.push({ path: [list, index], input: name, message: unknownText(name, known) });
      else if (choice[list]?.indexOf(name) !== index) {
        found.push({ path: [list, index], input: name, message: 'must name each column once' });
      }
    }
  }
  for (const name of Object.keys(choice.rename)) {
    if (!known.includes(name)) found.push({ path: ['rename', name], input: name, message: unknownText(name, known) });
  }
  return found.length > 0 ? found : leftIssues(choice, known);
}

/** What is wrong with the columns that are left, under their new names. Databases hold names that differ in case alone for one. */
function leftIssues({ columns, exclude, rename, tables }: ColumnChoice, known: readonly string[]): ColumnIssue[] {
  const left = (columns ?? known).filter((name) => !exclude.includes(name));
  if (left.length === 0)
    return [{ path: ['exclude'], input: undefined, message: 'must leave at least one column of assets' }];
  // The names of columns that other parts of the job add.
  const added = [fetchedAt.name, ...(tables.includes(changesTable.name) ? changeColumns : [])];
  const taken = new Map<string, string>(added.map((name) => [name, name]));
  for (const name of left) {
    const key = (rename[name] ?? name).toLowerCase();
    const other = taken.get(key);
    if (other !== undefined) {
      const renamed = rename[name] === undefined ? other : name;
      const message = `must give each column its own name: ${other} and ${name} would be the same`;
      return [{ path: ['rename', renamed], input: rename[renamed], message }];
    }
    taken.set(key, name);
  }
  return [];
}

function unknownText(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined
    ? 'must name columns of assets (see asset-export schema)'
    : `must name columns of assets (did you mean ${near}?)`;
}
