import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A PostgreSQL server of the system's, on a socket in a folder of its own. */
export interface PostgresServer {
  /** Runs a script in psql, stopping at the first error, and gives back the rows of its queries as text. */
  psql(script: string, database?: string): Promise<string>;
  /** Its address for clients. */
  readonly address: string;
  /** Ends it as a crash would. */
  crash(): Promise<void>;
  /** Starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server, or says why none can be had. */
export async function startPostgres(): Promise<PostgresServer | string> {
  const found = await run('pg_config', ['--bindir']).catch(() => undefined);
  if (found === undefined) return 'there is no pg_config';
  const bin = found.stdout.trim();
  const user = await serverUser();
  if (user === undefined) return 'the server refuses to run as root, and there is no user postgres';
  const folder = await mkdtemp(join(tmpdir(), 'pg-'));
  await chown(folder, user.uid, user.gid);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const data = join(folder, 'data');
  const as = { ...user, cwd: folder };
  const options = `-k ${folder} -c listen_addresses= -c fsync=off`;
  const start = async (): Promise<void> => {
    await run(join(bin, 'pg_ctl'), ['start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', options], as);
  };
  const crash = async (): Promise<void> => {
    await run(join(bin, 'pg_ctl'), ['stop', '-w', '-m', 'immediate', '-D', data], as);
  };
  try {
    await run(join(bin, 'initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'], as);
    await start();
  } catch (error) {
    await remove();
    return `the server does not start: ${String(error)}`;
  }
  return {
    address: `postgres:///postgres?host=${encodeURIComponent(folder)}&user=tester`,
    psql: async (script, database = 'postgres') => {
      const psql = run(
        'psql',
        ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', folder, '-U', 'tester', '-d', database],
        { maxBuffer: 256 * 1024 * 1024 },
      );
      psql.child.stdin?.end(script);
      return (await psql).stdout;
    },
    crash,
    restart: start,
    stop: async () => {
      await crash();
      await remove();
    },
  };
}

/** Who the server runs as: never root. */
async function serverUser(): Promise<{ uid: number; gid: number } | undefined> {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (uid === undefined || gid === undefined) return undefined;
  if (uid !== 0) return { uid, gid };
  const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres']))).catch(() => undefined);
  const [postgresUid, postgresGid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
  return postgresUid === undefined || postgresGid === undefined ? undefined : { uid: postgresUid, gid: postgresGid };
}
