import { loadOptional } from './optional-packages.ts';

/**
 * The optional package of DuckDB.
 * @param what what needs it, for the message
 * @param instead what to do without it, as a sentence
 * @throws {ExportError} `usage` when it is not installed, or not for this system
 */
export function loadDuckdb(what: string, instead?: string): Promise<typeof import('@duckdb/node-api')> {
  const request = { what, packages: ['@duckdb/node-api'], load: () => import('@duckdb/node-api') };
  return loadOptional(instead === undefined ? request : { ...request, instead });
}
