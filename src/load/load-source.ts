import type { Source } from '../warehouse/dialect.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';

/** The source of a load statement. The files lie in the folder of the export's table, whatever the table is called that takes them. */
export function sourceOf(loaded: LoadTable, plan: LoadPlan, folder: string): Source {
  const { format, csvDialect } = plan;
  const filesTable = loaded.files[0]?.split('/')[1] ?? loaded.table.name;
  return { table: loaded.table, format, folder, csvDialect, filesTable };
}
