import { readdirSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDiskLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { keyHash } from '../../../src/core/client/ledger/ledger-file.ts';
import { systemClock, utcDay } from '../../../src/lib/clock.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import type { ProgramRun } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const key = 'canary-key-0123456789-abcdef';
const hash = keyHash(key);
const other = keyHash('another');

/** A state folder with bookings; the day is the one on which the test began. */
async function bookedState(): Promise<{ folder: string; today: string }> {
  const folder = await tempFolder();
  const today = utcDay(systemClock.now());
  await book(folder, key, [
    ['2026-03-14', 1_234_560],
    [today, 160],
  ]);
  await book(folder, 'another', [['2026-03-15', 320]]);
  return { folder, today };
}

async function book(folder: string, apiKey: string, days: readonly (readonly [string, number])[]): Promise<void> {
  const ledger = await openDiskLedger({ stateDir: join(folder, 'state'), apiKey });
  for (const [day, credits] of days) {
    await ledger.reserve({ day, credits });
    await ledger.settle({ day, credits });
  }
  await ledger.close();
}

async function credits(folder: string, args: readonly string[], apiKey?: string): Promise<ProgramRun> {
  const run = await runHere(['credits', ...args], {
    cwd: folder,
    environment: { ASSET_EXPORT_STATE: 'state', ...(apiKey === undefined ? {} : { ASSET_EXPORT_API_KEY: apiKey }) },
  });
  expect(`${run.stdout}${run.stderr}`).not.toContain('canary');
  return run;
}

describe('credits', () => {
  it('shows what is booked under the key by day, and which day is today', async () => {
    const { folder, today } = await bookedState();
    expect(await credits(folder, [], key)).toEqual({
      exit: 0,
      stdout: [
        `Credits booked under key ${hash}, by UTC day:`,
        '  2026-03-14  1,234,560',
        `  ${today}        160  today`,
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('takes the key from a file as well, and the folder from a flag', async () => {
    const { folder, today } = await bookedState();
    await writeFile(join(folder, 'key.txt'), `${key}\n`);
    const run = await credits(folder, ['--api-key-file', 'key.txt', '--json', '--state-dir', join(folder, 'state')]);
    const days = [
      { day: '2026-03-14', credits: 1_234_560 },
      { day: today, credits: 160 },
    ];
    expect(JSON.parse(run.stdout)).toEqual({ today, ledgers: [{ key: hash, days }] });
  });

  it('shows every ledger by the hash of its key where there is no key', async () => {
    const { folder } = await bookedState();
    const run = await credits(folder, []);
    expect(run.exit).toBe(0);
    for (const each of [hash, other]) expect(run.stdout).toContain(`Credits booked under key ${each}, by UTC day:\n`);
    for (const line of run.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('says so when nothing is booked, and makes nothing', async () => {
    const folder = await tempFolder();
    expect((await credits(folder, [])).stdout).toBe('No credits booked in state.\n');
    expect((await credits(folder, [], key)).stdout).toBe(`No credits booked under key ${hash} in state.\n`);
    expect(JSON.parse((await credits(folder, ['--json'])).stdout)).toMatchObject({ ledgers: [] });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('credits set', () => {
  it('sets the day that is named, and tells what was and what is', async () => {
    const { folder } = await bookedState();
    const run = await credits(folder, ['set', '480', '--day', '2026-03-14'], key);
    const said = `2026-03-14 under key ${hash}: 1,234,560 credits were booked, now 480\n`;
    expect(run).toEqual({ exit: 0, stdout: said, stderr: '' });
    const again = await credits(folder, ['set', '0', '--day', '2026-03-14', '--json'], key);
    const told = { key: hash, day: '2026-03-14', before: 480, after: 0, inFlight: 0 };
    expect(JSON.parse(again.stdout)).toEqual(told);
    expect((await credits(folder, [], 'another')).stdout).toContain('2026-03-15  320');
  });

  it('sets today where no day is named', async () => {
    const { folder } = await bookedState();
    expect((await credits(folder, ['set', '99'], key)).stdout).toMatch(/: (160|0) credits were booked, now 99\n$/);
    expect((await credits(folder, [], key)).stdout).toMatch(/ 99 {2}today\n$/);
  });

  it('shows and sets the ledger of the account in the environment, as a run books there; the flag wins', async () => {
    const { folder } = await bookedState();
    const of = (args: readonly string[], account: string): Promise<ProgramRun> =>
      runHere(['credits', ...args], {
        cwd: folder,
        environment: { ASSET_EXPORT_STATE: 'state', ASSET_EXPORT_API_KEY: key, ASSET_EXPORT_ACCOUNT: account },
      });
    expect((await of(['set', '99'], 'main')).stdout).toContain('under account main: 0 credits were booked, now 99');
    expect((await of([], 'main')).stdout).toMatch(/^Credits booked under account main, by UTC day:\n.* 99 {2}today\n$/);
    expect((await of(['--account', 'other'], 'main')).stdout).toContain('under account other');
    expect((await of([], '')).stdout).toContain(`under key ${hash}`);
    const refused = await of([], 'a b');
    expect(refused).toMatchObject({ exit: 2, stdout: '' });
    expect(refused.stderr).toContain('ASSET_EXPORT_ACCOUNT must be 1 to 64 letters');
  });

  it('shows and sets the ledger of a service without a key by its address', async () => {
    const { folder } = await bookedState();
    const origin = 'https://das.example';
    await book(folder, origin, [['2026-03-15', 7]]);
    const of = ['--dialect', 'reference', '--url', `${origin}/rpc`];
    expect((await credits(folder, of)).stdout).toContain(`under key ${keyHash(origin)}`);
    expect((await credits(folder, ['set', '9', '--day', '2026-03-15', ...of])).stdout).toContain(
      '7 credits were booked',
    );
    expect(await credits(folder, of, key)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('take no key, and ASSET_EXPORT_API_KEY names one') as string,
    });
    const unnamed = await credits(folder, ['--dialect', 'reference']);
    expect(unnamed.stderr).toContain('goes by the address of the service');
    expect((await credits(folder, ['--dialect', 'helios'], key)).stderr).toContain('did you mean helius?');
  });

  it('keeps what a program has in flight on top, and says so', async () => {
    const { folder } = await bookedState();
    const running = await openDiskLedger({ stateDir: join(folder, 'state'), apiKey: key });
    await running.reserve({ day: '2026-03-14', credits: 160 });
    const run = await credits(folder, ['set', '1600', '--day', '2026-03-14'], key);
    await running.close();
    expect(run.stdout).toContain('now 1,760\n  160 of them for calls that are in flight\n');
  });

  it('needs a key, and says where it belongs', async () => {
    const run = await credits(await tempFolder(), ['set', '160']);
    expect(run).toMatchObject({ exit: 2, stdout: '' });
    expect(run.stderr).toContain('--api-key-file');
    expect(run.stderr).toContain('ASSET_EXPORT_API_KEY');
  });

  it.each([
    ['a number that is none', ['set', 'canary-key']],
    ['no number', ['set']],
    ['less than nothing', ['set', '-1']],
    ['half a credit', ['set', '0.5']],
    ['more than can be counted', ['set', '9007199254740992']],
    ['a number in another form', ['set', '1e3']],
    ['another word', ['canary-key']],
    ['a day that is none', ['set', '1', '--day', '2026-02-30']],
    ['a day in another form', ['set', '1', '--day', '14.3.2026']],
    ['a day to show', ['--day', '2026-03-14']],
  ])('refuses %s, and books nothing', async (_, args) => {
    const folder = await tempFolder();
    const run = await credits(folder, args, key);
    expect(run).toMatchObject({ exit: 2, stdout: '' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('ends with 7 where no folder can be made', async () => {
    const run = await credits(await tempFolder(), ['set', '1', '--state-dir', '/proc/none/state'], key);
    expect(run).toMatchObject({ exit: 7, stdout: '' });
    expect(run.stderr).toContain('--state-dir');
  });

  // Promise, Nothing overspent: A cut or empty ledger is exit 12 before anything is sent, until it is set
  it('repairs a damaged ledger, which ends a run with 12 before anything is sent', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 20 });
    const service = await startGeneratedService();
    const args = ['run', '--ids', 'ids.txt', '--url', service.url, '--out', 'out', '--credits-per-day', '160'];
    const run = () =>
      runHere([...args, '--ids-per-call', '10', '--format', 'csv'], {
        cwd: folder,
        environment: { ASSET_EXPORT_STATE: 'state', ASSET_EXPORT_API_KEY: key },
      });
    expect(await run()).toMatchObject({ exit: 8 });
    const [name = ''] = readdirSync(join(folder, 'state', 'ledger'));
    for (const length of [0, 8192, 20_000]) {
      truncateSync(join(folder, 'state', 'ledger', name), length);
      const { exit, stderr } = await run();
      expect(exit).toBe(12);
      expect(stderr).toMatch(
        /the credit ledger .* is damaged\n {2}Look up .*asset-export credits set <credits> --day \d/,
      );
    }
    const set = await credits(folder, ['set', '160'], key);
    expect(set).toMatchObject({ exit: 0, stdout: expect.stringContaining('damaged, now 160') as string });
    expect(await run()).toMatchObject({ exit: 8 });
    expect(service.counts().calls).toBe(1);
    await credits(folder, ['set', '0'], key);
    expect(await run()).toMatchObject({ exit: 0 });
    await service.stop();
  });
});

describe('credits set, compared with the price of the calls', () => {
  const day = '2026-03-20';

  async function after(calls: number, refunded: number, figure: number): Promise<string> {
    const folder = await tempFolder();
    const ledger = await openDiskLedger({ stateDir: join(folder, 'state'), apiKey: key });
    for (let call = 0; call < calls; call += 1) {
      await ledger.reserve({ day, credits: 160 });
      if (call < refunded) await ledger.refund({ day, credits: 160 });
      else await ledger.settle({ day, credits: 160 });
    }
    await ledger.close();
    const { exit, stderr } = await credits(folder, ['set', String(figure), '--day', day], key);
    expect(exit).toBe(0);
    return stderr;
  }

  it.each([
    [20, 0, 3600, /3,600 for 20 calls is 180 a call, the job says 160: set budget.creditsPerCall/],
    [20, 0, 3601, /3,601 for 20 calls is more than was booked at 160 a call/],
    [20, 0, 3200, /^$/],
    [20, 3, 2720, /^$/],
    [20, 0, 200, /^$/],
    [100, 0, 1000, /1,000 for 100 calls is 10 a call, the job says 160/],
    [100, 0, 1001, /^$/],
  ])('after %i calls with %i refunded, %i says what it means', async (calls, refunded, figure, said) => {
    expect(await after(calls, refunded, figure)).toMatch(said);
  });

  it('says nothing where prices differ', async () => {
    const folder = await tempFolder();
    await book(folder, key, [
      [day, 160],
      [day, 180],
    ]);
    expect((await credits(folder, ['set', '1000', '--day', day], key)).stderr).toBe('');
  });
});
