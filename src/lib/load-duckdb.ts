import { codeOf } from './export-error.ts';

export type DuckdbPackage = typeof import('@duckdb/node-api');

/** The optional package of DuckDB; undefined when it is not installed. */
export async function loadDuckdb(): Promise<DuckdbPackage | undefined> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}
