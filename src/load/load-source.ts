import type { Source } from '../warehouse/dialect.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';

/** The source of a load statement. */
export function sourceOf({ table, files }: LoadTable, { format, csvDialect }: LoadPlan, folder: string): Source {
  return { table, format, folder, csvDialect, files };
}
