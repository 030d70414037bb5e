import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type DiskLedger, openDiskLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';
import { ledgerLayout, type LedgerState } from '../../../../src/core/client/ledger/ledger-file.ts';
import { counterIn } from '../../../../src/lib/disk/counter-file.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const day = '2026-03-14';
const apiKey = 'key';

interface Booked {
  readonly stateDir: string;
  readonly path: string;
  readonly ledger: DiskLedger;
}

/** A ledger with 480 credits, of which 160 are in flight. */
async function bookedLedger(): Promise<Booked> {
  const stateDir = await tempFolder();
  const ledger = await openDiskLedger({ stateDir, apiKey });
  for (let n = 0; n < 3; n += 1) await ledger.reserve({ day, credits: 160 });
  const folder = join(stateDir, 'ledger');
  const [name = ''] = readdirSync(folder);
  return { stateDir, path: join(folder, name), ledger };
}

/** What a program that starts now finds. */
async function found({ stateDir }: Pick<Booked, 'stateDir'>): Promise<unknown> {
  const ledger = await openDiskLedger({ stateDir, apiKey });
  const booked = await ledger.booked(day).catch((error: unknown) => error);
  const reserved = await ledger.reserve({ day, credits: 160, limit: 480 }).catch((error: unknown) => error);
  await ledger.close();
  if (typeof booked === 'number') expect(reserved).toBe(false);
  else expect(reserved).toMatchObject({ exit: 'damaged' });
  return booked;
}

function flipped(bytes: Buffer, bit: number, places: readonly number[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const at of places) copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at);
  return copy;
}

const stateOf = (file: Buffer): LedgerState | undefined => counterIn(file, ledgerLayout);

const damaged = {
  exit: 'damaged',
  message: expect.stringContaining(`-${day} is damaged`) as string,
  todo: expect.stringContaining(`credits set <credits> --day ${day}`) as string,
};

describe('a damaged ledger', () => {
  it('is reported at whatever length it was cut, emptied or extended, and nothing is booked', async () => {
    const { path, stateDir, ledger } = await bookedLedger();
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length += 1) {
      expect(stateOf(whole.subarray(0, length))).toBeUndefined();
    }
    for (const length of [0, 100, whole.length / 2, whole.length - 1]) {
      truncateSync(path, length);
      expect(await found({ stateDir }), `cut at ${length}`).toMatchObject(damaged);
      expect(readFileSync(path)).toHaveLength(length);
      writeFileSync(path, whole);
    }
    writeFileSync(path, Buffer.concat([whole, Buffer.from('x')]));
    expect(await found({ stateDir })).toMatchObject(damaged);
    writeFileSync(path, 'something else\n');
    expect(await found({ stateDir })).toMatchObject(damaged);
    await ledger.close();
  });

  // Promise, Nothing overspent: A flipped bit leaves the right balance; a ledger of another length is damaged
  it('has the right balance whichever single bit is flipped, and is never read wrong where both copies are', async () => {
    const { path, ledger } = await bookedLedger();
    const whole = readFileSync(path);
    const half = whole.length / 2;
    const used = whole.indexOf(0);
    expect(used).toBeGreaterThan(100);
    for (let bit = 0; bit < (used + 1) * 8; bit += 1) {
      const flips = [bit >> 3, half + (bit >> 3)];
      for (const at of flips) expect(stateOf(flipped(whole, bit & 7, [at]))?.credits, `bit ${bit}, ${at}`).toBe(480);
      if (flips[0] !== used) expect(stateOf(flipped(whole, bit & 7, flips)), `bit ${bit}`).toBeUndefined();
    }
    writeFileSync(path, flipped(whole, 0, [70]));
    expect(await ledger.reserve({ day, credits: 160 })).toBe(true);
    writeFileSync(path, flipped(readFileSync(path), 0, [half + 70]));
    expect(await ledger.booked(day)).toBe(640);
    writeFileSync(path, flipped(whole, 0, [70, half + 70]));
    await expect(ledger.booked(day)).rejects.toMatchObject(damaged);
    await ledger.close();
  });

  it('has what was booked last where a program was killed between its two copies', async () => {
    const { path, ledger, stateDir } = await bookedLedger();
    const before = readFileSync(path);
    await ledger.reserve({ day, credits: 160 });
    const after = readFileSync(path);
    writeFileSync(path, Buffer.concat([after.subarray(0, after.length / 2), before.subarray(before.length / 2)]));
    expect(await found({ stateDir })).toBe(640);
    await ledger.close();
  });

  it('is used again once it is set, and its own copies are whole', async () => {
    const { path, ledger, stateDir } = await bookedLedger();
    await ledger.settle({ day, credits: 480 });
    truncateSync(path, 100);
    expect(await found({ stateDir })).toMatchObject(damaged);
    expect(await ledger.set({ day, credits: 320 })).toEqual({ before: undefined, after: 320, inFlight: 0 });
    expect(await ledger.booked(day)).toBe(320);
    const other = await openDiskLedger({ stateDir, apiKey });
    expect(await other.reserve({ day, credits: 160, limit: 480 })).toBe(true);
    expect(await other.reserve({ day, credits: 160, limit: 480 })).toBe(false);
    expect(readdirSync(join(stateDir, 'ledger'))).toHaveLength(1);
    await Promise.all([ledger.close(), other.close()]);
  });

  it.each([
    ['answered', 160 * 3],
    ['refused free of charge', 160 * 2],
    // Promise, Nothing overspent: Setting a damaged ledger books credits in flight again
  ])('that is set while calls are in flight has them booked again once one is %s', async (end, inFlight) => {
    const { path, ledger, stateDir } = await bookedLedger();
    truncateSync(path, 0);
    const other = await openDiskLedger({ stateDir, apiKey });
    await other.set({ day, credits: 1600 });
    if (end === 'answered') await ledger.settle({ day, credits: 480 });
    else await ledger.refund({ day, credits: 160 });
    expect(await other.booked(day)).toBe(1600 + inFlight);
    await Promise.all([ledger.close(), other.close()]);
  });

  it('is reported by a program that runs, also where its file is removed', async () => {
    for (const damage of [
      (path: string) => {
        truncateSync(path, 9000);
      },
      (path: string) => {
        rmSync(path);
      },
    ]) {
      const { path, ledger } = await bookedLedger();
      damage(path);
      await expect(ledger.reserve({ day, credits: 160 })).rejects.toMatchObject(damaged);
      expect(await ledger.reserve({ day: '2026-03-15', credits: 160 })).toBe(true);
      await ledger.close();
    }
  });
});
