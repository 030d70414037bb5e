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
const encodedTodo =
  'Write --to postgres://user@host/database. In a user or password / is %2F, ? is %3F, # is %23, @ is %40, : is %3A and % is %25; or give the password in PGPASSWORD.';

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
  if (url === undefined || endsInPassword(url)) {
    throw new ExportError('usage', '--to is no address of a PostgreSQL database', { todo: encodedTodo });
  }
  return { kind: 'postgres', address: text, shown: `postgres://${url.host}${url.pathname}` };
}

/** Whether the host was looked for within the password, up to a `/`, `?` or `#` of it: the `@` before the host comes later. */
function endsInPassword({ username, pathname, search, searchParams, hash }: URL): boolean {
  // Parameters may hold an @ of their own, behind an = and after a user.
  if (username === '' && search.includes('@')) return true;
  return [pathname, hash, ...searchParams.keys()].some((part) => part.includes('@'));
}
