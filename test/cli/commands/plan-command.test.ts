import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDiskLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { commands } from '../../../src/cli/commands.ts';
import { utcDay } from '../../../src/lib/clock.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runExport } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function flagsOf(name: string): Promise<string[]> {
  const command = await commands.find((each) => each.name === name)?.load();
  return (command?.groups ?? []).flatMap(({ flags }) => flags.map((flag) => flag.name));
}

describe('plan', () => {
  it('takes every flag that run takes: one word of the line is changed, and it tells the bill', async () => {
    expect(await flagsOf('plan')).toEqual(expect.arrayContaining(await flagsOf('run')));
  });

  it('with --fresh tells what a run would cost that begins anew', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 50 });
    const service = await startGeneratedService();
    const flags = { ids, url: service.url, out: join(folder, 'out'), 'ids-per-call': '10', format: 'csv' };
    await runExport({ flags });
    const line = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const calls = async (...more: string[]): Promise<unknown> => {
      const { stdout } = await runHere(['plan', ...line, '--state-dir', folder, '--json', ...more]);
      return (JSON.parse(stdout) as { calls: number }).calls;
    };
    expect(await calls()).toBe(0);
    expect(await calls('--fresh')).toBe(5);
    expect(await calls()).toBe(0);
  });

  it('tells a limit of a day that no call fits in from no limit', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    const line = ['plan', '--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', '--out', 'out'];
    const planned = async (...more: string[]): Promise<string> =>
      (await runHere([...line, ...more], { cwd: folder })).stdout;
    expect(JSON.parse(await planned('--json'))).toMatchObject({ days: null });
    expect(JSON.parse(await planned('--json', '--credits-per-day', '159'))).toMatchObject({ days: 'never' });
    expect(await planned('--credits-per-day', '159')).toContain('days          never: the daily budget is below');
  });

  // Promise, Nothing misread: `plan` needs no key, counts today's bookings, and refuses what `run` refuses
  it('counts what is booked today, and gives a time of completion', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    const stateDir = join(folder, 'state');
    const ledger = await openDiskLedger({ stateDir, apiKey: 'key' });
    for (const ms of [Date.now(), Date.now() + 60_000]) {
      const day = utcDay(ms);
      if ((await ledger.booked(day)) === 0) await ledger.reserve({ day, credits: 29_920 });
    }
    await ledger.close();
    const line = [
      'plan',
      '--ids',
      'ids.txt',
      '--url',
      'http://127.0.0.1:9',
      '--out',
      'out',
      '--credits-per-day',
      '30000',
    ];
    const planned = async (environment: Readonly<Record<string, string>>, ...more: string[]) =>
      runHere([...line, ...more], { cwd: folder, environment: { ASSET_EXPORT_STATE: stateDir, ...environment } });
    const known = await planned({ ASSET_EXPORT_API_KEY: 'key' });
    expect(known.stdout).toContain('days          2 days under the budget, 80 credits left today\n');
    expect(known.stdout).toMatch(/done {10}20\d\d-\d\d-\d\d about 00:01 UTC, if it starts now\n/);
    const unknown = await planned({}, '--json');
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      days: 1,
      leftToday: 30_000,
      completesAt: expect.stringMatching(/Z$/) as string,
      warnings: [expect.stringContaining('no API key') as string],
    });
    expect(await readdir(folder)).toEqual(['ids.txt', 'state']);
  });

  it('refuses what run refuses, with the same exit code and words', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    await mkdir(join(folder, 'full'));
    await writeFile(join(folder, 'full/notes.txt'), '');
    const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
    for (const wrong of [
      { url: 's.example' },
      { url: 'https://s.example/v3/key' },
      { out: 'full' },
      { 'credits-per-day': '100' },
      { url: 'embedded:none.jsonl' },
    ]) {
      const flags = { ids: 'ids.txt', url: 'http://127.0.0.1:9', out: 'out', ...wrong };
      const line = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
      const [planned, ran] = await Promise.all(
        ['plan', 'run'].map((command) => runHere([command, ...line], { cwd: folder, environment })),
      );
      expect(planned?.exit, JSON.stringify(wrong)).toBe(ran?.exit);
      expect(ran?.exit, JSON.stringify(wrong)).toBeGreaterThan(0);
      expect(planned?.stderr.split('\n')[0]).toBe(ran?.stderr.split('\n')[0]);
    }
  });

  it('warns of more ids a call than services take', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    const line = ['plan', '--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', '--out', 'out', '--ids-per-call'];
    const options = { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key' } };
    const { exit, stderr } = await runHere([...line, '2000'], options);
    expect(exit).toBe(0);
    expect(stderr).toContain('warning: service.idsPerCall is 2000, but services accept at most 1000');
    expect((await runHere([...line, '1000'], options)).stderr).toBe('');
  });

  it.each([
    ['no key', undefined, 'no API key given'],
    ['an empty key file', '\n', 'the key file key is empty'],
    ['a key file that is not there', undefined, 'cannot read the key file other: it does not exist', 'other'],
    ['two keys in a file', 'one\ntwo\n', 'the API key in key contains spaces or line breaks'],
  ] as const)('prints the bill with %s, and one warning', async (...[, text, why, file = 'key']) => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    if (text !== undefined) await writeFile(join(folder, 'key'), text);
    const line = ['--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', '--out', 'out', '--credits-per-day', '1000'];
    const named = text === undefined && file === 'key' ? [] : ['--api-key-file', file];
    const { exit, stdout, stderr } = await runHere(['plan', ...line, ...named], { cwd: folder });
    expect(exit, stderr).toBe(0);
    expect(stdout).toMatch(/^ {2}credits {7}160 \(160 a call: MetaMask credit costs, read \d{4}-\d\d-\d\d\)$/m);
    const more = 'a run would end with exit 2, and credits booked today are not counted';
    expect(stderr).toBe(`asset-export: warning: ${why}: ${more}\n`);
  });

  it('prints what the disk needs at the end and on the way, and what is free', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    const line = ['plan', '--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', '--out', 'out', '--format', 'csv'];
    const { stdout } = await runHere(line, { cwd: folder });
    expect(stdout).toMatch(/^ {2}disk {10}about 66\.3 kB, up to 153 kB while it runs; \d[\d.]* [kMGTP]B free$/m);
    const json = (await runHere([...line, '--json'], { cwd: folder })).stdout;
    expect(JSON.parse(json)).toMatchObject({
      diskBytes: 66_350,
      diskPeakBytes: 153_350,
      diskFreeBytes: expect.any(Number) as number,
    });
  });
});
