import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type GeneratedServiceOptions, startGeneratedService } from '../../support/service/generated-service.ts';
import { mostInASecond, noteTurns } from '../../support/turns.ts';
import { runsAll } from '../../support/lane.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { exportBytes } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { type ProgramRun, runProgram, startProgram, told } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../../wings/warehouse/postgres-of-tests.ts';

const server = await postgresOfTests('the budget of a fleet is not tested');
let keys = 0;

/** Folders of runs that share. */
const outs = ['a', 'b', 'c', 'd'];

/** More ids than any budget here has calls for, ten a call: no run of one can be complete before the others began. */
const tooMany = 1000;

/** A service, ids for 40 calls unless given, and runs of the program that share a key and the database. */
async function fleet(options: GeneratedServiceOptions = {}, entries = 400) {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries });
  const service = await startGeneratedService(options);
  onTestFinished(() => service.stop());
  const environment = { ASSET_EXPORT_API_KEY: `key-${(keys += 1)}`, ASSET_EXPORT_FLEET: server.address };
  const command = (out: string, ...more: string[]) => [
    ...['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, '--ids-per-call', '10'],
    ...['--rows-per-part', '100', '--format', 'csv', '--concurrency', '4', '--threads', '1'],
    ...['--log-level', 'warn', ...more],
  ];
  const start = (out: string, ...more: string[]) => startProgram(command(out, ...more), { cwd: folder, environment });
  const credits = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await runHere(['credits', ...args], { cwd: folder, environment });
    expect(stderr).toBe('');
    return stdout;
  };
  return { folder, service, environment, command, start, credits };
}

/** What is booked, over all days, under all keys. */
async function bookedNow(): Promise<() => Promise<number>> {
  await server.query('drop schema if exists asset_export cascade');
  const pool = new pg.Pool({ connectionString: server.address, max: 1 });
  // The server may crash.
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  return async () => {
    const { rows } = await pool.query<{ sum: string }>('select sum(booked) as sum from asset_export.day');
    return Number(rows[0]?.sum);
  };
}

function exitsOf(runs: readonly ProgramRun[]): ProgramRun['exit'][] {
  return runs.map(({ exit }) => exit).sort();
}

describe.skipIf(server.isMissing)('runs that share a database', () => {
  // Promise, Nothing overspent: Processes that share a database send exactly what the day allows, at one pace, and pause together
  it('send exactly what the budget of a day allows, and book before they send', async () => {
    const booked = await bookedNow();
    const short: number[] = [];
    const at: GeneratedServiceOptions['at'] = async (point, { number }) => {
      if (point === 'received' && (await booked()) < number * 160) short.push(number);
    };
    const { service, start, credits } = await fleet({ jitterMs: 20, at }, tooMany);
    const budget = ['--credits-per-day', String(90 * 160), '--credits-per-second', String(100 * 160)];
    const runs = outs.slice(0, runsAll ? 4 : 2).map((out) => start(out, ...budget));
    expect(exitsOf(await Promise.all(runs.map(({ ended }) => ended)))).toEqual(runs.map(() => 8));
    expect(service.counts().calls).toBe(90);
    expect(await booked()).toBe(90 * 160);
    expect(short).toEqual([]);
    expect(await credits()).toContain('14,400  today');
    expect(await credits('set', '0')).toContain('14,400 credits were booked, now 0');
  });

  // Promise, Nothing overspent: If some of them are killed, or the database crashes, nothing is overspent
  it('never book less than they send when two are killed, and the others use the rest', async () => {
    const booked = await bookedNow();
    const short: number[] = [];
    const children: ReturnType<typeof startProgram>[] = [];
    const at: GeneratedServiceOptions['at'] = async (point, { number }) => {
      if (point !== 'received') return;
      if ((await booked()) < number * 160) short.push(number);
      if (number === 20) children[0]?.child.kill('SIGKILL');
      if (number === 40) children[1]?.child.kill('SIGKILL');
    };
    const { service, start } = await fleet({ delayMs: 20, at }, tooMany);
    for (const out of outs.slice(0, runsAll ? 4 : 3)) children.push(start(out, '--credits-per-day', String(70 * 160)));
    expect(exitsOf(await Promise.all(children.map(({ ended }) => ended)))).toEqual([
      ...(runsAll ? [8, 8] : [8]),
      ...['SIGKILL', 'SIGKILL'],
    ]);
    expect(await booked()).toBe(70 * 160);
    expect(short).toEqual([]);
    // At most what each of the killed had booked and not sent: four calls.
    expect(service.counts().calls).toBeLessThanOrEqual(70);
    expect(service.counts().calls).toBeGreaterThanOrEqual(62);
  });

  it('keep one pace, and all pause when one is told to', async () => {
    const arrivedMs: number[] = [];
    const sharing = outs.slice(0, runsAll ? 4 : 2);
    const [throttledAt, pauseMs, perSecond] = [20 * sharing.length, 2000, 40];
    const { start, credits } = await fleet({
      throttled: ({ number }) => {
        arrivedMs.push(Date.now());
        return number === throttledAt ? pauseMs / 1000 : undefined;
      },
    });
    await bookedNow();
    await credits('set', '0');
    const turnsNoted = await noteTurns(server, { perSecond });
    const runs = sharing.map((out) => start(out, '--credits-per-second', String(perSecond * 160)));
    expect(exitsOf(await Promise.all(runs.map(({ ended }) => ended)))).toEqual(runs.map(() => 0));
    const calls = 40 * sharing.length + 1;
    expect(arrivedMs).toHaveLength(calls);
    const turns = await turnsNoted();
    expect(turns.length).toBeGreaterThanOrEqual(calls);
    expect(mostInASecond(turns)).toBeLessThanOrEqual(44);
    // How soon a run hears that it is to pause, and how late a call arrives, is up to the machine. Nobody gets a turn in a pause, and
    // no call leaves before its turn, but for what timers are early.
    expect(Math.max(...turns.map(({ pauseEndMs }) => pauseEndMs))).toBeGreaterThanOrEqual(
      (arrivedMs[throttledAt - 1] ?? 0) + pauseMs,
    );
    expect(turns.filter(({ leaveMs, pauseEndMs }) => leaveMs < pauseEndMs)).toEqual([]);
    expect(arrivedMs.filter((ms, index) => ms < (turns[index]?.leaveMs ?? 0) - 5)).toEqual([]);
  });

  it('wait for a database that crashes, spend no more for it, and make the same files', async () => {
    const entries = runsAll ? 400 : 200;
    const calm = await fleet({}, entries);
    const calmOptions = { cwd: calm.folder, environment: calm.environment };
    expect(await runHere(calm.command('calm'), calmOptions)).toMatchObject({ exit: 0 });
    const booked = await bookedNow();
    let crash: Promise<void> | undefined;
    const at: GeneratedServiceOptions['at'] = (point, { number }) => {
      if (point === 'received' && number === 10) crash = server.crash();
    };
    const { folder, service, start } = await fleet({ delayMs: 20, at }, entries);
    const runs = ['a', 'b'].map((out) => start(out, '--credits-per-day', String(10_000 * 160)));
    await Promise.all(runs.map(({ child }) => told(child, 'the shared database does not answer')));
    await crash;
    const sent = service.counts().calls;
    await new Promise((resolve) => setTimeout(resolve, 500));
    // What was in flight or had its credits.
    expect(service.counts().calls - sent).toBeLessThanOrEqual(8);
    await server.restart();
    const ended = await Promise.all(runs.map(({ ended }) => ended));
    expect(exitsOf(ended), ended.map(({ stderr }) => stderr).join('\n')).toEqual([0, 0]);
    for (const { stderr } of ended) expect(stderr).toContain('the shared database answers again');
    const calls = entries / 5;
    expect(service.counts().calls).toBe(calls);
    expect(await booked()).toBeGreaterThanOrEqual(calls * 160);
    // Each had at most one statement that may have been done without an answer.
    expect(await booked()).toBeLessThanOrEqual((calls + 2) * 160);
    for (const out of ['a', 'b'])
      expect(exportBytes(join(folder, out))).toEqual(exportBytes(join(calm.folder, 'calm')));
  });

  // Promise, Nothing leaked: The shared ledger does not hold the key; no message holds its password
  it('log in with PGPASSWORD or PGPASSFILE, and a password is not shown', async () => {
    const password = 'canary-password';
    const hba = (await server.query('show hba_file')).trim();
    writeFileSync(hba, `local all guarded scram-sha-256\n${readFileSync(hba, 'utf8')}`);
    await server.query(`create role guarded login password '${password}'; grant create on database postgres to guarded;
      drop schema if exists asset_export cascade; select pg_reload_conf()`);
    const { folder, environment, command } = await fleet({}, 20);
    const address = server.address.replace('user=tester', 'user=guarded');
    const passfile = join(folder, 'passfile');
    writeFileSync(passfile, `*:*:*:guarded:${password}\n`);
    chmodSync(passfile, 0o600);
    const run = async (out: string, more: Record<string, string>, fleetAddress = address): Promise<ProgramRun> => {
      const made = await runHere(command(out, '--fleet', fleetAddress), {
        cwd: folder,
        environment: { ...environment, ...more },
      });
      expect(`${made.stdout}${made.stderr}`).not.toContain('canary');
      return made;
    };
    expect(await run('a', { PGPASSWORD: password })).toMatchObject({ exit: 0 });
    expect(await run('b', { PGPASSFILE: passfile })).toMatchObject({ exit: 0 });
    expect(await run('c', { PGPASSWORD: 'wrong' })).toMatchObject({
      exit: 7,
      stderr: expect.stringContaining('password authentication failed') as string,
    });
    const holding = `postgres://guarded:${password}@localhost/postgres`;
    expect(await run('d', {}, holding)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--fleet must not hold a password') as string,
    });
  });

  it.runIf(runsAll)('are followed by plan, status, get and verify --repair', async () => {
    const booked = await bookedNow();
    const { folder, environment, command, start } = await fleet();
    const budget = ['--credits-per-day', String(50 * 160)];
    const program = (...args: string[]) => runHere(args, { cwd: folder, environment });
    const planned = async (out: string): Promise<unknown> => {
      const { stdout } = await program('plan', ...command(out, ...budget).slice(1), '--json');
      return (JSON.parse(stdout) as { leftToday: unknown }).leftToday;
    };
    // A plan makes nothing in the database.
    expect(await planned('a')).toBe(50 * 160);
    expect(await server.query(`select to_regnamespace('asset_export') is null`)).toBe('t\n');
    expect(await program(...command('a', ...budget))).toMatchObject({ exit: 0 });
    expect(await planned('b')).toBe(10 * 160);
    expect(await start('b', ...budget).ended).toMatchObject({ exit: 8 });
    const { stdout } = await program('status', 'b', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ creditsToday: 50 * 160, creditsLeft: 0 });
    const [id = ''] = readFileSync(join(folder, 'ids.txt'), 'utf8').split('\n');
    const get = ['get', id, '--url', command('a')[4] ?? ''];
    expect(await program(...get, ...budget)).toMatchObject({ exit: 8 });
    expect(await program(...get)).toMatchObject({ exit: 0 });
    expect(await booked()).toBe(51 * 160);
    writeFileSync(join(folder, 'a/csv/assets/part-00000.csv'), 'damaged');
    const repair = ['verify', 'a', '--repair', '--yes', ...command('a').slice(1, 5), '--ids-per-call', '10'];
    expect(await program(...repair)).toMatchObject({ exit: 0 });
    expect(await booked()).toBe(61 * 160);
  });

  it.runIf(runsAll)('need the package pg, and print the line that installs it', async () => {
    const { folder, environment, command, service } = await fleet({}, 20);
    const resolve = `export const resolve = (name, context, next) => name === 'pg'
      ? Promise.reject(Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' })) : next(name, context);`;
    writeFileSync(
      join(folder, 'without-pg.mjs'),
      `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(resolve)}`)});`,
    );
    const without = { ...environment, NODE_OPTIONS: '--import ./without-pg.mjs' };
    expect(await runProgram(command('a'), { cwd: folder, environment: without })).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/needs the package pg, which is not installed[^]*npm ci/) as string,
    });
    expect(service.counts().calls).toBe(0);
    const alone = { ...without, ASSET_EXPORT_FLEET: '' };
    expect(await runProgram(command('a'), { cwd: folder, environment: alone })).toMatchObject({ exit: 0 });
  });
});
