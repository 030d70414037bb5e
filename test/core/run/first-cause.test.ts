import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { takeLock } from '../../../src/places/files/lock.ts';
import { SmallExport, writeSmallIds } from '../../model/support/small-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('a disk that can no longer be written when a run ends', () => {
  // Promise, Nothing lost: A failing disk or cleanup at the end is reported, and hides no cause
  it('does not hide why the run stopped', async () => {
    const small = new SmallExport(writeSmallIds(await tempFolder()));
    const outage = new ExportError('unavailable', 'the service is down');
    const openWire = () => ({
      ask: () => {
        small.disk.weather = () => ({ kind: 'fails', code: 'EROFS' });
        return Promise.reject(outage);
      },
      close: () => Promise.resolve(),
    });
    expect(await small.run({ context: { openWire } })).toMatchObject({ state: 'unfinished', error: outage });
  });

  it('is told in words when nothing else went wrong', async () => {
    const small = new SmallExport(writeSmallIds(await tempFolder()));
    small.disk.weather = ({ kind, path }) =>
      kind === 'remove' && path.includes('.run/') && small.published().has('manifest.json')
        ? { kind: 'fails', code: 'EROFS' }
        : { kind: 'happens' };
    await expect(small.run()).rejects.toMatchObject({
      exit: 'cannotWrite',
      message: expect.stringMatching(/^cannot remove .*: read-only file system \(EROFS\)$/) as string,
    });
  });

  it('leaves the lock in words, too', async () => {
    const folder = await tempFolder();
    const lock = await takeLock(folder);
    const path = join(folder, '.run', 'lock');
    rmSync(path);
    mkdirSync(path);
    await expect(lock.release()).rejects.toMatchObject({ exit: 'cannotWrite' });
    expect(existsSync(path)).toBe(true);
  });
});
