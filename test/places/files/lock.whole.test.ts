import fs, { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ExportError } from '../../../src/lib/export-error.ts';
import { lockOwner, takeLock } from '../../../src/places/files/lock.ts';
import { type LockOwner, ownerIn, ownerLine, thisProcess } from '../../../src/lib/process/lock-owner.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { startLockTaker } from './lock-takers.ts';
import { bundleProgram } from '../../support/bundle-program.ts';
import { runsAll } from '../../support/lane.ts';

const program = await bundleProgram(new URL('take-locks.ts', import.meta.url));

/** A process that is no more: Linux gives no pid above this number. */
const deadPid = 4_194_305;

function deadOwner(nonce: string): LockOwner {
  return { ...thisProcess(nonce), pid: deadPid };
}

function lockFile(folder: string, suffix = ''): string {
  mkdirSync(join(folder, '.run'), { recursive: true });
  return join(folder, '.run', `lock${suffix}`);
}

async function errorOf(folder: string): Promise<ExportError> {
  try {
    await takeLock(folder);
  } catch (error) {
    return error as ExportError;
  }
  throw new Error('The lock was given.');
}

describe('a lock', () => {
  it('is given to one, and the other is told whose it is', async () => {
    const folder = await tempFolder();
    const lock = await takeLock(folder);
    const error = await errorOf(folder);
    expect(error.exit).toBe('locked');
    expect(error.message).toContain(`process ${process.pid} on ${hostname()}`);
    expect(error.facts).toEqual({ host: hostname(), pid: process.pid });
    expect((await lockOwner(folder))?.pid).toBe(process.pid);
    await lock.release();
    expect(await lockOwner(folder)).toBeUndefined();
    await (await takeLock(folder)).release();
  });

  it('leaves nothing behind when it is removed, and spares what is not its own', async () => {
    const folder = await tempFolder();
    await (await takeLock(folder)).remove();
    expect(existsSync(join(folder, '.run'))).toBe(false);
    const lock = await takeLock(folder);
    writeFileSync(join(folder, '.run', 'other'), '');
    await lock.remove();
    expect(readdirSync(join(folder, '.run'))).toEqual(['other']);
  });

  it('is taken over from an owner that is dead, or that a later process only seems to be', async () => {
    const self = thisProcess('self');
    for (const owner of [
      deadOwner('dead'),
      { ...self, started: '1', nonce: 'same-pid' },
      { ...self, boot: 'an earlier start of the machine', nonce: 'rebooted' },
    ]) {
      const folder = await tempFolder();
      writeFileSync(lockFile(folder), ownerLine(owner));
      expect(await lockOwner(folder)).toBeUndefined();
      await (await takeLock(folder)).release();
    }
  });

  it('is taken over though the pid of its dead owner is that of another user’s process by now', async () => {
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    onTestFinished(() => {
      kill.mockRestore();
    });
    const folder = await tempFolder();
    const self = thisProcess('self');
    writeFileSync(lockFile(folder), ownerLine(self));
    expect((await errorOf(folder)).facts).toMatchObject({ pid: process.pid });
    writeFileSync(lockFile(folder), ownerLine({ ...self, started: '1', nonce: 'same-pid' }));
    await (await takeLock(folder)).release();
  });

  it('is taken over from a process that ended and was not waited for', async () => {
    const folder = await tempFolder();
    const taker = await startLockTaker(program);
    expect(await taker.take(folder)).toBe('won');
    expect((await errorOf(folder)).facts).toMatchObject({ pid: taker.pid });
    await taker.kill();
    await (await takeLock(folder)).release();
  });

  it('is left to an owner whose pid says nothing here, as in another container, until that ends', async () => {
    const folder = await tempFolder();
    const taker = await startLockTaker(program);
    expect(await taker.take(folder)).toBe('won');
    const seen = ownerIn(readFileSync(lockFile(folder), 'utf8')) ?? deadOwner('cut');
    writeFileSync(lockFile(folder), ownerLine({ ...seen, pid: deadPid }));
    expect((await errorOf(folder)).exit).toBe('locked');
    expect((await lockOwner(folder))?.pid).toBe(deadPid);
    await taker.kill();
    expect(await lockOwner(folder)).toBeUndefined();
    await (await takeLock(folder)).remove();
    expect(existsSync(join(folder, '.run'))).toBe(false);
  });

  it('is seen to be held in a folder whose path is longer than that of a socket may be', async () => {
    const folder = join(await tempFolder(), 'a folder with a long name, '.repeat(8));
    const lock = await takeLock(folder);
    const seen = ownerIn(readFileSync(lockFile(folder), 'utf8')) ?? deadOwner('cut');
    writeFileSync(lockFile(folder), ownerLine({ ...seen, pid: deadPid }));
    expect((await errorOf(folder)).exit).toBe('locked');
    await lock.release();
  });

  it('of another host is left alone, and the message says what to do when that is gone', async () => {
    const folder = await tempFolder();
    writeFileSync(lockFile(folder), ownerLine({ ...deadOwner('far'), host: 'elsewhere' }));
    expect(await errorOf(folder)).toMatchObject({ exit: 'locked', facts: { host: 'elsewhere', pid: deadPid } });
    expect((await errorOf(folder)).todo).toContain(`remove ${lockFile(folder)}`);
  });

  it('of another host name on this machine is taken over when the socket of its owner is refused, and only then', async () => {
    const folder = await tempFolder();
    const taker = await startLockTaker(program);
    expect(await taker.take(folder)).toBe('won');
    const seen = { ...(ownerIn(readFileSync(lockFile(folder), 'utf8')) ?? deadOwner('cut')), host: 'container' };
    writeFileSync(lockFile(folder), ownerLine(seen));
    expect((await errorOf(folder)).exit).toBe('locked');
    await taker.kill();
    for (const unlike of [{ device: undefined }, { device: 1 }, { boot: 'another machine' }]) {
      writeFileSync(lockFile(folder), ownerLine({ ...seen, ...unlike }));
      expect((await errorOf(folder)).exit).toBe('locked');
    }
    writeFileSync(lockFile(folder), ownerLine(seen));
    await (await takeLock(folder)).release();
  });

  it.each(['', '\0'.repeat(200), '{"host":', '[]', 'null'])(
    'that a loss of power cut or emptied (%#) holds nobody up',
    async (content) => {
      const folder = await tempFolder();
      writeFileSync(lockFile(folder), content);
      const lock = await takeLock(folder);
      expect((await errorOf(folder)).exit).toBe('locked');
      await lock.release();
    },
  );

  it('goes through every dead owner of a chain, and takes the chain away', async () => {
    const folder = await tempFolder();
    writeFileSync(lockFile(folder), ownerLine(deadOwner('one')));
    writeFileSync(lockFile(folder, '.after.one'), ownerLine(deadOwner('two')));
    writeFileSync(lockFile(folder, '.after.two'), 'cut');
    writeFileSync(lockFile(folder, '.alive.one'), '');
    const lock = await takeLock(folder);
    expect(readdirSync(join(folder, '.run'))).toEqual(['lock', expect.stringMatching(/^lock\.alive\.(?!one$)/)]);
    expect(readFileSync(lockFile(folder), 'utf8')).toContain(`"pid":${process.pid}`);
    await lock.release();
  });

  // A loser that comes late links a name of the chain for a moment, when its winner is at the beginning already.
  it('is told of its owner, not of a loser, when the chain changes while it is read', async () => {
    const folder = await tempFolder();
    const owner = thisProcess('winner');
    const loser = { ...owner, nonce: 'loser', pid: process.ppid, started: '' };
    writeFileSync(lockFile(folder), ownerLine(deadOwner('one')));
    const { openSync } = fs;
    const open = vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
      if (String(path).endsWith('lock.after.one')) {
        writeFileSync(lockFile(folder), ownerLine(owner));
        writeFileSync(path, ownerLine(loser));
      }
      return openSync(path, ...rest);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      open.mockRestore();
      syncBuiltinESMExports();
    });
    expect((await errorOf(folder)).facts).toMatchObject({ pid: process.pid });
  });

  it('in a folder that cannot be written is refused in plain words', async () => {
    const folder = await tempFolder();
    writeFileSync(join(folder, '.run'), 'a file in its place');
    expect(await errorOf(folder)).toMatchObject({ exit: 'cannotWrite', facts: { code: 'EEXIST' } });
  });
});

describe('of several processes that want the same lock at once', () => {
  // Promise, Nothing lost: Of several takers, also in containers, exactly one gets the lock; a killed one holds up none
  it('exactly one gets it, each time, after a dead owner or a chain of them', async () => {
    const folder = await tempFolder();
    const takers = await Promise.all([1, 2, 3].map(() => startLockTaker(program)));
    for (let round = 0; round < (runsAll ? 200 : 60); round += 1) {
      const out = join(folder, String(round));
      if (round % 4 > 0) writeFileSync(lockFile(out), ownerLine(deadOwner('one')));
      if (round % 4 > 1) writeFileSync(lockFile(out, '.after.one'), ownerLine(deadOwner('two')));
      if (round % 4 > 2) writeFileSync(lockFile(out, '.after.two'), '');
      const answers = await Promise.all(takers.map((taker) => taker.take(out)));
      const winner = takers[answers.indexOf('won')];
      expect(answers.filter((answer) => answer === 'won')).toHaveLength(1);
      expect(answers.filter((answer) => answer === `locked ${winner?.pid ?? 0}`)).toHaveLength(2);
      expect((await lockOwner(out))?.pid).toBe(winner?.pid);
    }
  });

  it('one follows when the owner is killed', async () => {
    const folder = await tempFolder();
    for (let round = 0; round < 2; round += 1) {
      const [owner, ...others] = await Promise.all([1, 2, 3].map(() => startLockTaker(program)));
      expect(await owner?.take(folder)).toBe('won');
      await owner?.kill();
      const answers = await Promise.all(others.map((taker) => taker.take(folder)));
      expect(answers.filter((answer) => answer === 'won')).toHaveLength(1);
      for (const other of others) await other.kill();
    }
  });
});
