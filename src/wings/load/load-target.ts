import { resolve } from 'node:path';
import { tableNames } from '../../core/records/columns.ts';
import { requireAddress } from '../../lib/addresses/address.ts';
import { ExportError } from '../../lib/export-error.ts';
import { stagePrefix } from '../warehouse/index.ts';

/** A database to load into. */
export interface LoadTarget {
  readonly kind: 'duckdb' | 'postgres';
  /** The file's absolute path, or the address with its secrets: never to be shown. */
  readonly address: string;
  /** What people may see of it: no user, no password, no parameters. */
  readonly shown: string;
}

const todo = 'Write --to duckdb:FILE or --to postgres://user@host/database. Put the password into PGPASSWORD.';
const encodedTodo =
  'Write --to postgres://user@host/database, with the password in PGPASSWORD. In the address, encode / as %2F, ? as %3F, # as %23, @ as %40, : as %3A and % as %25.';

/** Reads `duckdb:FILE` or `postgres://…`. @throws {ExportError} `usage`, without the text, which may hold a password */
export function parseTarget(text: string, folder: string): LoadTarget {
  if (text.startsWith('duckdb:')) {
    const file = text.slice('duckdb:'.length).replace(/^\/\/(?=\/)/, '');
    if (file === '') throw new ExportError('usage', '--to duckdb: has no file name', { todo });
    if (file.startsWith(':memory:')) {
      const lost = '--to duckdb::memory: names a database that ends with the load, so nothing would be kept';
      throw new ExportError('usage', lost, { todo: 'Write --to duckdb:FILE.' });
    }
    if (file.startsWith('//')) {
      const right = `duckdb:${file.replace(/^\/+/, '')}`;
      throw new ExportError('usage', '--to has // after duckdb:', { todo: `Write --to ${right}.` });
    }
    const [, parameter] = /\?(\w+)=/.exec(file) ?? [];
    if (parameter !== undefined) throw unknownParameter(parameter, 'a DuckDB address has no parameters');
    const path = requireAddress(file, 'local', 'the file of --to');
    return { kind: 'duckdb', address: resolve(folder, path), shown: `duckdb:${file}` };
  }
  if (!/^postgres(ql)?:\/\//.test(text)) throw noTarget(text);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || endsInPassword(url)) {
    throw new ExportError('usage', '--to is not a valid PostgreSQL address', { todo: encodedTodo });
  }
  for (const name of url.searchParams.keys()) {
    if (!postgresParameters.has(name)) throw unknownParameter(name, `known: ${[...postgresParameters].join(', ')}`);
  }
  return { kind: 'postgres', address: text, shown: `postgres://${url.host}${url.pathname}` };
}

/** The scheme alone is shown of what is no target. */
function noTarget(text: string): ExportError {
  const [, word = '', slashes = ''] = /^([A-Za-z][\w+.-]*):(\/*)/.exec(text) ?? [];
  const scheme = word.toLowerCase();
  const isPostgres = scheme === 'postgres' || scheme === 'postgresql';
  const problem =
    word === ''
      ? 'does not begin with duckdb: or postgres://'
      : `begins with ${word}:${slashes.slice(0, 2)}, which is neither duckdb: nor postgres://`;
  const file = word === '' && /^[\w./-]+\.(db|duckdb)$/i.test(text) ? `Write --to duckdb:${text}.` : undefined;
  const near = isPostgres ? encodedTodo : scheme === 'duckdb' ? 'Write --to duckdb:FILE.' : (file ?? todo);
  return new ExportError('usage', `--to ${problem}`, { todo: near });
}

/** What the driver of PostgreSQL reads; it ignores all others without a word. */
const postgresParameters: ReadonlySet<string> = new Set([
  ...['host', 'port', 'user', 'password', 'ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'],
  ...['uselibpqcompat', 'application_name', 'fallback_application_name', 'client_encoding', 'options'],
  ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'],
]);

/** Parameters by which people name a schema elsewhere. */
const schemaParameters = /^(schema|currentschema|search_path)$/i;

function unknownParameter(name: string, why: string): ExportError {
  // A part of a password may have been read as one.
  const shown = /^\w{1,40}$/.test(name) ? ` "${name}"` : '';
  return new ExportError('usage', `--to has an unknown parameter${shown}: ${why}`, {
    todo: schemaParameters.test(name) ? 'Name the schema with --schema NAME.' : 'Remove it from the address.',
  });
}

const mostNameBytes = 63;

/** Checks names that `--schema` and `--prefix` gave. @throws {ExportError} `usage` for one that a database would refuse or cut, or that a stage has */
export function requireNames({
  schema,
  prefix = '',
}: {
  readonly schema?: string | undefined;
  readonly prefix?: string | undefined;
}): void {
  const longest = Math.max(...tableNames.map((name) => Buffer.byteLength(prefix + name)));
  const refused = (flag: string, why: string): ExportError => new ExportError('usage', `--${flag} ${why}`);
  if (schema === '') throw refused('schema', 'is empty');
  if (Buffer.byteLength(schema ?? '') > mostNameBytes) throw refused('schema', 'is longer than 63 bytes');
  if (prefix.toLowerCase().startsWith(stagePrefix)) {
    throw refused('prefix', `begins with ${stagePrefix}, as the names of stages do: choose another`);
  }
  if (longest > mostNameBytes) throw refused('prefix', 'makes table names longer than 63 bytes');
}

/** Whether the host was looked for within the password, up to a `/`, `?` or `#` of it: the `@` before the host comes later. */
function endsInPassword({ username, pathname, search, searchParams, hash }: URL): boolean {
  // Parameters may hold an @ of their own, behind an = and after a user.
  if (username === '' && search.includes('@')) return true;
  return [pathname, hash, ...searchParams.keys()].some((part) => part.includes('@'));
}
