import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CreditLedger,
  openDiskLedger,
  readLedgers,
  createMemoryLedger,
} from '../../../../src/core/client/ledger/credit-ledger.ts';
import { describeAccounts, describeLedger } from '../../../contract/client/ledger-contract.ts';
import { bundleProgram } from '../../../support/bundle-program.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const day = '2026-03-14';
const apiKey = 'the key';

async function onDisk(): Promise<CreditLedger> {
  return openDiskLedger({ stateDir: await tempFolder(), apiKey });
}

describeLedger('on disk', onDisk);
describeAccounts('on disk', async () => {
  const stateDir = await tempFolder();
  return (whose) => openDiskLedger({ stateDir, ...whose });
});
describeLedger('in memory', () => Promise.resolve(createMemoryLedger()));

describe('the ledger on disk', () => {
  it('is kept when it is opened again, for the same key alone', async () => {
    const stateDir = await tempFolder();
    const first = await openDiskLedger({ stateDir, apiKey });
    await first.reserve({ day, credits: 160 });
    await first.reserve({ day: '2026-03-13', credits: 160 });
    await first.close();
    const again = await openDiskLedger({ stateDir, apiKey: ' the key\n' });
    expect(await again.booked(day)).toBe(160);
    await again.close();
    const other = await openDiskLedger({ stateDir, apiKey: 'another' });
    expect(await other.booked(day)).toBe(0);
    await other.close();
    const both = [
      { day: '2026-03-13', credits: 160 },
      { day, credits: 160 },
    ];
    expect(await readLedgers({ stateDir, apiKey })).toMatchObject(both);
    expect(await readLedgers({ stateDir })).toMatchObject(both);
    expect(await readLedgers({ stateDir, apiKey: 'another' })).toEqual([]);
    expect(await readLedgers({ stateDir: join(stateDir, 'none'), apiKey })).toEqual([]);
  });

  it('may be open twice in one process', async () => {
    const stateDir = await tempFolder();
    const [first, second] = [await openDiskLedger({ stateDir, apiKey }), await openDiskLedger({ stateDir, apiKey })];
    const granted = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? first : second).reserve({ day, credits: 1, limit: 25 })),
    );
    expect(granted.filter(Boolean)).toHaveLength(25);
    await first.close();
    expect(await second.booked(day)).toBe(25);
    expect(await second.reserve({ day, credits: 1 })).toBe(true);
    await second.close();
  });

  // Promise, Nothing leaked: The ledger does not hold the key
  it('never holds the key', async () => {
    const stateDir = await tempFolder();
    const ledger = await openDiskLedger({ stateDir, apiKey: 'canary-key-0123456789' });
    await ledger.reserve({ day, credits: 160 });
    await ledger.close();
    const folder = join(stateDir, 'ledger');
    const names = await readdir(folder);
    expect(names[0]).toMatch(/^[0-9a-f]{16}-2026-03-14$/);
    for (const name of names) expect((await readFile(join(folder, name))).includes('canary')).toBe(false);
  });

  it('says what to do when it cannot be written', async () => {
    const stateDir = await tempFolder();
    await writeFile(join(stateDir, 'ledger'), '');
    await expect(openDiskLedger({ stateDir, apiKey })).rejects.toMatchObject({
      exit: 'cannotWrite',
      todo: expect.stringMatching(/state-dir/) as string,
    });
    const spoiled = await tempFolder();
    const ledger = await openDiskLedger({ stateDir: spoiled, apiKey });
    await ledger.reserve({ day, credits: 1 });
    const [name = ''] = await readdir(join(spoiled, 'ledger'));
    await ledger.close();
    await mkdir(join(spoiled, 'ledger', name.replace(day, '2026-03-15')));
    const again = await openDiskLedger({ stateDir: spoiled, apiKey });
    await expect(again.reserve({ day: '2026-03-15', credits: 1 })).rejects.toMatchObject({ exit: 'cannotWrite' });
    await again.close();
  });

  // Promise, Nothing overspent: A ledger whose commit failed is not used again
  it('does not use a day again that could not be read or written, and uses the others', async () => {
    const stateDir = await tempFolder();
    const ledger = await openDiskLedger({ stateDir, apiKey });
    await ledger.reserve({ day, credits: 160 });
    const [name = ''] = await readdir(join(stateDir, 'ledger'));
    const path = join(stateDir, 'ledger', name);
    await rename(path, `${path}.aside`);
    await mkdir(path);
    await expect(ledger.reserve({ day, credits: 160 })).rejects.toMatchObject({ exit: 'cannotWrite' });
    await rmdir(path);
    await rename(`${path}.aside`, path);
    await expect(ledger.reserve({ day, credits: 160 })).rejects.toMatchObject({ exit: 'cannotWrite' });
    expect(await ledger.reserve({ day: '2026-03-15', credits: 160 })).toBe(true);
    const other = await openDiskLedger({ stateDir, apiKey });
    expect(await other.booked(day)).toBe(160);
    await Promise.all([ledger.close(), other.close()]);
  });

  it.runIf(process.platform === 'linux')('says what to do where no folder can ever be made', async () => {
    await expect(openDiskLedger({ stateDir: '/proc/none/state', apiKey })).rejects.toMatchObject({
      exit: 'cannotWrite',
      message: expect.stringContaining('/proc/none') as string,
      todo: expect.stringMatching(/state-dir/) as string,
    });
  });

  // Promise, Nothing overspent: Processes killed again and again spend exactly the limit
  it('spends exactly the limit between four processes that are killed again and again', async () => {
    const stateDir = await tempFolder();
    const limit = 160 * 600;
    const spenders = { granted: 0, kills: 0 };
    const spend = async (): Promise<void> => {
      for (;;) {
        const child = spawnSpender([stateDir, day, '160', String(limit), 'heard']);
        let heard = 0;
        child.stdin.on('error', () => undefined);
        child.stdout.on('data', (bytes: Buffer) => {
          spenders.granted += bytes.length;
          heard += bytes.length;
          // Never far behind: else a busy machine hears of all bookings at once, too late to kill.
          for (; heard >= 10; heard -= 10) child.stdin.write('.');
          // Every 40th booking kills whoever made it: 12 kills, spread over the run by the work itself, not by time.
          const due = Math.min(12, Math.floor(spenders.granted / 40));
          if (spenders.kills < due && !child.killed && child.kill('SIGKILL')) spenders.kills += 1;
        });
        const [code] = (await once(child, 'close')) as [number | null];
        if (code === 0) return;
        if (code !== null) throw new Error(`A spender ended with ${code}.`);
      }
    };
    await Promise.all([spend(), spend(), spend(), spend()]);
    const ledger = await openDiskLedger({ stateDir, apiKey });
    expect(await ledger.booked(day)).toBe(limit);
    await ledger.close();
    expect(spenders.kills).toBe(12);
    expect(spenders.granted).toBeLessThanOrEqual(600);
    expect(spenders.granted).toBeGreaterThanOrEqual(600 - spenders.kills);
  });
});

const program = await bundleProgram(new URL('../support/spend-credits.ts', import.meta.url));

function spawnSpender(args: readonly string[]) {
  return spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
}
