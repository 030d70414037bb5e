import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openDiskLedger, readLedgers } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { ledgerFile, keyHash } from '../../../../src/core/client/ledger/ledger-file.ts';
import { thisProcess } from '../../../../src/lib/process/lock-owner.ts';
import { describeCorrections } from '../../../contract/client/ledger-contract.ts';
import { bundleProgram } from '../../../support/bundle-program.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const day = '2026-03-14';
const apiKey = 'the key';

describeCorrections('on disk', async () => {
  const stateDir = await tempFolder();
  return { open: () => openDiskLedger({ stateDir, apiKey }) };
});

describe('a day that is set to what the provider says', () => {
  // Promise, Nothing overspent: A day set to the provider's figure is never below the charges
  it('is never below what was charged, whenever it is set', async () => {
    type Step = { readonly kind: 'send' | 'charge' | 'refuse' | 'end' | 'set'; readonly n: number };
    const step: fc.Arbitrary<Step> = fc.record({
      kind: fc.constantFrom('send', 'send', 'charge', 'refuse', 'end', 'set'),
      n: fc.nat(7),
    });
    const stateDir = await tempFolder();
    const ledgers = [await openDiskLedger({ stateDir, apiKey }), await openDiskLedger({ stateDir, apiKey })] as const;
    let months = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const own = `${String(2000 + Math.floor(months / 12))}-${String((months % 12) + 1).padStart(2, '0')}-01`;
        months += 1;
        const calls: { of: 0 | 1; charged: boolean; over: boolean }[] = [];
        let charged = 0;
        for (const { kind, n } of steps) {
          const open = calls.filter(({ over }) => !over);
          const call = open[n % Math.max(1, open.length)];
          const of = n % 2 === 0 ? 0 : 1;
          if (kind === 'send' && (await ledgers[of].reserve({ day: own, credits: 10 }))) {
            calls.push({ of, charged: false, over: false });
          }
          // The page says what is charged by now, and nothing of what is to come.
          if (kind === 'set') await ledgers[of].set({ day: own, credits: charged });
          if (call !== undefined && kind === 'charge' && !call.charged) {
            call.charged = true;
            charged += 10;
          }
          if (call !== undefined && kind === 'refuse' && !call.charged) {
            call.over = true;
            await ledgers[call.of].refund({ day: own, credits: 10 });
          }
          if (call !== undefined && kind === 'end') {
            call.over = true;
            await ledgers[call.of].settle({ day: own, credits: 10 });
          }
          expect(await ledgers[0].booked(own)).toBeGreaterThanOrEqual(charged);
        }
      }),
      { seed: 3, numRuns: 60 },
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  });

  it('leaves out what a program had in flight that was killed, and holds it while the program lives', async () => {
    const stateDir = await tempFolder();
    const child = spawnSpender([stateDir, day, '160', String(160 * 5), 'stay']);
    await allGranted(child, 5);
    const ledger = await openDiskLedger({ stateDir, apiKey });
    expect(await ledger.set({ day, credits: 320 })).toMatchObject({ before: 800, after: 1120, inFlight: 800 });
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await ledger.set({ day, credits: 320 })).toMatchObject({ before: 1120, after: 320, inFlight: 0 });
    await ledger.close();
  });

  it('holds what a program in another container had in flight, as nobody here can tell whether that lives', async () => {
    const stateDir = await tempFolder();
    const ledger = await openDiskLedger({ stateDir, apiKey });
    await ledger.reserve({ day, credits: 480 });
    await ledger.settle({ day, credits: 480 });
    const file = ledgerFile(stateDir, { ledger: keyHash(apiKey), day }, { self: thisProcess('here') });
    const dead = { ...thisProcess('there'), pid: 4_194_305 };
    const inFlight = [
      { credits: 320, owner: { ...dead, namespace: 'pid:[1]' } },
      { credits: 160, owner: dead },
    ];
    await file.change(() => ({ result: undefined, next: { credits: 480, inFlight } }));
    await file.close();
    expect(await ledger.set({ day, credits: 0 })).toMatchObject({ before: 480, after: 320, inFlight: 320 });
    await ledger.close();
  });

  it('holds what 400 programs had in flight that were killed in other containers, in a file of the same length', async () => {
    const stateDir = await tempFolder();
    const file = ledgerFile(stateDir, { ledger: keyHash(apiKey), day }, { self: thisProcess('here') });
    const ledger = await openDiskLedger({ stateDir, apiKey });
    await ledger.reserve({ day, credits: 160 });
    const path = join(stateDir, 'ledger', readdirSync(join(stateDir, 'ledger'))[0] ?? '');
    const { size } = statSync(path);
    for (let n = 0; n < 400; n += 1) {
      const owner = { ...thisProcess(`there ${n}`), pid: 4_194_305, namespace: 'pid:[1]' };
      await file.change((found) => {
        if (typeof found === 'string') throw new Error(found);
        const { credits, inFlight } = found;
        return { result: 0, next: { credits: credits + 10, inFlight: [...inFlight, { credits: 10, owner }] } };
      });
      if (n % 50 === 0) await ledger.reserve({ day, credits: 160 });
    }
    expect(await ledger.set({ day, credits: 0 })).toMatchObject({ after: 4000 + 9 * 160, inFlight: 4000 + 9 * 160 });
    expect(statSync(path).size).toBe(size);
    await Promise.all([file.close(), ledger.close()]);
  });

  it('is set whole or not at all by a program that is killed, beside one that books', async () => {
    const stateDir = await tempFolder();
    const ledger = await openDiskLedger({ stateDir, apiKey });
    for (let round = 1; round <= 6; round += 1) {
      const child = spawn(process.execPath, [setter, stateDir, day], { stdio: ['ignore', 'pipe', 'inherit'] });
      child.stdout.once('data', () => child.kill('SIGKILL'));
      const booking = (async () => {
        for (let n = 0; n < 20; n += 1) await ledger.reserve({ day, credits: 1 });
      })();
      await Promise.all([once(child, 'close'), booking]);
      await ledger.settle({ day, credits: 20 });
      const booked = await ledger.booked(day);
      // A setter writes 1000 and 5000 in turn; on top are the bookings that it found in flight or that came after.
      expect([1000, 5000].some((least) => booked >= least && booked <= least + 20)).toBe(true);
      expect(await ledger.set({ day, credits: 0 })).toMatchObject({ inFlight: 0 });
    }
    await ledger.close();
  });
});

describe('readLedgers', () => {
  it('tells what is booked by key and day, of one key or of all, and makes no folder', async () => {
    const stateDir = await tempFolder();
    expect(await readLedgers({ stateDir: `${stateDir}/none` })).toEqual([]);
    expect(existsSync(`${stateDir}/none`)).toBe(false);
    for (const [key, each, credits] of [
      ['b', '2026-03-15', 320],
      ['a', '2026-03-14', 160],
      ['b', '2026-03-13', 480],
    ] as const) {
      const ledger = await openDiskLedger({ stateDir, apiKey: key });
      await ledger.reserve({ day: each, credits });
      await ledger.close();
    }
    const ofA = [{ ledger: keyHash('a'), day: '2026-03-14', credits: 160 }];
    const ofB = [
      { ledger: keyHash('b'), day: '2026-03-13', credits: 480 },
      { ledger: keyHash('b'), day: '2026-03-15', credits: 320 },
    ];
    expect(await readLedgers({ stateDir, apiKey: ' a\n' })).toEqual(ofA);
    expect(await readLedgers({ stateDir })).toEqual(keyHash('a') < keyHash('b') ? [...ofA, ...ofB] : [...ofB, ...ofA]);
  });
});

const spender = await bundleProgram(new URL('../support/spend-credits.ts', import.meta.url));
const setter = await bundleProgram(new URL('../support/set-credits.ts', import.meta.url));

function spawnSpender(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [spender, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Each byte is a booking that was granted. */
async function allGranted(child: ChildProcess, bookings: number): Promise<void> {
  let granted = 0;
  for await (const bytes of child.stdout ?? []) {
    granted += (bytes as Buffer).length;
    if (granted >= bookings) return;
  }
}
