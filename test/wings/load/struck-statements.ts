import { cpSync } from 'node:fs';
import { DuckDBConnection } from '@duckdb/node-api';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { vi } from 'vitest';
import type { LoadRequest } from '../../../src/wings/load/load-export.ts';

/** Copies a folder with a DuckDB file, without its lock: a killed process does not hold it either. */
export function copyUnlocked(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.includes('.lock') });
}

/** What the driver does not declare. */
interface ClientOfDriver {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** Numbers the statements of a load. @param strike what a statement does instead; undefined: what it always does */
export async function watched(
  kind: LoadRequest['kind'],
  strike: (n: number) => 'refused' | 'cut off' | undefined,
  work: () => Promise<unknown>,
): Promise<{ readonly count: number; readonly result: unknown }> {
  let count = 0;
  const duckdb = (['run', 'stream'] as const).map((name) => {
    const real = DuckDBConnection.prototype[name] as (this: DuckDBConnection, sql: string) => Promise<never>;
    return vi.spyOn(DuckDBConnection.prototype, name).mockImplementation(function (this: DuckDBConnection, sql) {
      return strike(++count) === 'refused' ? Promise.reject(new Error('IO Error: refused')) : real.call(this, sql);
    });
  });
  const client: { query: (this: ClientOfDriver, ...args: unknown[]) => unknown } = pg.Client.prototype;
  const { query } = client;
  const postgres = vi.spyOn(client, 'query').mockImplementation(function (this: ClientOfDriver, ...args: unknown[]) {
    const struck = strike(++count);
    if (struck === 'cut off') this.connection.stream.destroy();
    const isCopy = typeof args[0] === 'object' && args[0] !== null && 'submit' in args[0];
    const refused = isCopy ? copyFrom('COPY nowhere FROM STDIN') : 'SELECT 1/0';
    return query.apply(this, struck === 'refused' ? [refused] : args);
  });
  try {
    return { result: await work().catch((error: unknown) => error), count };
  } finally {
    for (const spy of [...duckdb, postgres]) spy.mockRestore();
  }
}
