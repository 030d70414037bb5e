import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { night } from '../../support/nights.ts';
import { sampled } from '../../model/support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 60 }, (_, n) => generatedId(4, n));
const records = ids.slice(5).map(generatedRecord);

/** A disk on which a folder is removed before the n-th operation within it, from 0. */
function removing(folder: string, at: number): { readonly files: Disk; readonly seen: () => number } {
  let seen = 0;
  const files = new Proxy(localDisk, {
    get: (store, name: keyof Disk) => {
      const operation: unknown = Reflect.get(store, name);
      if (typeof operation !== 'function') return operation;
      return (path: unknown, ...rest: readonly unknown[]): unknown => {
        if (typeof path === 'string' && path.startsWith(folder) && seen++ === at) rmSync(folder, { recursive: true });
        return operation.call(store, path, ...rest);
      };
    },
  });
  return { files, seen: () => seen };
}

it.each(sampled(['csv', 'parquet'], 2))(
  'a base that is removed at any moment of a night ends with exit 4: %s',
  async (format) => {
    const top = await tempFolder();
    const kept = join(top, 'kept');
    await night({ day: 0, records, ids, out: kept, flags: { format, base: 'none' } });
    const flags = { format, 'max-age': '2d', tables: 'assets,creators,changes' };
    const endWithout = async (at: number): Promise<{ readonly end: string; readonly operations: number }> => {
      const base = join(top, `date=2026-11-20-${at}`);
      cpSync(kept, base, { recursive: true });
      const disk = removing(base, at);
      const more = { flags: { ...flags, base }, context: { files: disk.files } };
      const end = await night({ day: 1, records, ids: ids.slice(2), out: join(top, `out-${at}`), ...more }).then(
        ({ error, state }) => error ?? state,
        (error: unknown) => error,
      );
      return { end: end instanceof ExportError ? end.exit : String(end), operations: disk.seen() };
    };
    const { end: undisturbed, operations } = await endWithout(-1);
    expect(undisturbed).toBe('complete');
    const ends: string[] = [];
    for (let at = 0; at < operations; at += 1) ends.push((await endWithout(at)).end);
    expect(ends).toEqual(ends.map((end) => (end === 'complete' ? 'complete' : 'input')));
    expect(ends.filter((end) => end === 'input').length).toBeGreaterThan(5);
  },
);
