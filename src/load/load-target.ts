import { resolve } from 'node:path';
import { ExportError } from '../lib/export-error.ts';

/** A database to load into. */
export interface LoadTarget {
  readonly kind: 'duckdb' | 'postgres';
  /** The file's absolute path, or the address with its secrets: never to be shown. */
  readonly address: string;
  /** What people may see of it: no user, no password, no parameters. */
  readonly shown: string;
}

const todo = 'Write --to duckdb:FILE or --to postgres://user@host/database; the password may stand in PGPASSWORD.';

/** Reads `duckdb:FILE` or `postgres://…`. @throws {ExportError} `usage`, without the text, which may hold a password */
export function parseTarget(text: string, folder: string): LoadTarget {
  if (text.startsWith('duckdb:')) {
    const file = text.slice('duckdb:'.length).replace(/^\/\/(?=\/)/, '');
    if (file === '') throw new ExportError('usage', '--to duckdb: names no file', { todo });
    return { kind: 'duckdb', address: resolve(folder, file), shown: `duckdb:${file}` };
  }
  if (!/^postgres(ql)?:/.test(text)) {
    throw new ExportError('usage', '--to must begin with duckdb: or postgres://', { todo });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new ExportError('usage', '--to is no address of a PostgreSQL database', { todo });
  return { kind: 'postgres', address: text, shown: `postgres://${url.host}${url.pathname}` };
}
