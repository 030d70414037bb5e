import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exclusively, ownerLink, type LockOwner, thisProcess } from '../../../src/lib/process/lock-owner.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const self = thisProcess('self');
const dead: LockOwner = { ...self, pid: 4_194_305, nonce: 'dead' };
const elsewhere: LockOwner = { ...dead, namespace: 'pid:[1]', nonce: 'elsewhere' };

/** Returns what the link says. */
function heldBy(path: string, owner: LockOwner): string {
  const text = ownerLink(owner, 1);
  symlinkSync(text, path);
  return text;
}

describe('exclusive work', () => {
  it('names its owner in a link that file systems keep without a block', async () => {
    const path = join(await tempFolder(), 'lock');
    const longest = { ...self, host: 'h'.repeat(64), pid: 4_194_304, started: '1'.repeat(12), nonce: randomUUID() };
    expect(await exclusively({ path, self: longest }, () => readlinkSync(path).length)).toBeLessThan(60);
    expect(ownerLink(longest, Number.MAX_SAFE_INTEGER).length).toBeLessThan(60);
  });

  it('leaves nothing behind, whether it succeeds or fails', async () => {
    const folder = await tempFolder();
    const path = join(folder, 'lock');
    expect(await exclusively({ path, self }, () => readdirSync(folder))).toEqual(['lock']);
    const failure = new Error('on purpose');
    const failing = exclusively({ path, self }, () => {
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('follows a dead owner at once, and others that died while they followed one', async () => {
    const folder = await tempFolder();
    const path = join(folder, 'lock');
    let name = path;
    for (const nonce of ['first', 'second', 'third']) {
      const text = heldBy(name, { ...dead, nonce });
      name = `${name}.after.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    }
    const pause = () => Promise.reject(new Error('waited'));
    expect(await exclusively({ path, self, pause }, () => readdirSync(folder))).toEqual(['lock']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('follows an owner that it cannot look at when that one has not moved for seconds', async () => {
    const path = join(await tempFolder(), 'lock');
    let owners = 0;
    const hold = () => heldBy(path, { ...elsewhere, nonce: `owner ${(owners += 1)}` });
    hold();
    let pauses = 0;
    const pause = () => {
      pauses += 1;
      // Others come and go: that is no reason to take over.
      if (pauses % 600 === 0 && owners < 3) {
        unlinkSync(path);
        hold();
      }
      return Promise.resolve();
    };
    expect(await exclusively({ path, self, pause }, () => 'done')).toBe('done');
    expect(pauses).toBe(2 * 600 + 1_008);
  });

  // Promise, Nothing overspent: Killed processes hold up no booking, in containers too; a slow one overwrites none
  it('does work again that lost its lock, and leaves the lock to its owner', async () => {
    const path = join(await tempFolder(), 'lock');
    let tries = 0;
    const pause = () => {
      unlinkSync(path);
      return Promise.resolve();
    };
    const work = (requireHeld: () => void): number => {
      tries += 1;
      if (tries === 1) {
        unlinkSync(path);
        heldBy(path, { ...self, nonce: 'other' });
      }
      requireHeld();
      return tries;
    };
    expect(await exclusively({ path, self, pause }, work)).toBe(2);
  });

  it('waits for a living owner, and says so in words after a minute', async () => {
    const path = join(await tempFolder(), 'lock');
    heldBy(path, { ...self, nonce: 'other' });
    let pauses = 0;
    const pause = () => Promise.resolve((pauses += 1));
    await expect(exclusively({ path, self, pause }, () => undefined)).rejects.toMatchObject({
      exit: 'locked',
      message: expect.stringContaining(`process ${process.pid}`) as string,
    });
    expect(pauses).toBe(50_001);
  });
});
