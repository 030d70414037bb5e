import { jsonCare, plainCare, stringCare, timeCare } from '../../lib/kernel/slots.ts';
import type { ColumnType } from '../records/table.ts';

/** What the kernel knows of the cells of a column. */
export const cares: Readonly<Record<ColumnType, number>> = {
  string: stringCare,
  json: jsonCare,
  timestamp: timeCare,
  boolean: plainCare,
  int64: plainCare,
  double: plainCare,
  decimal: plainCare,
};
