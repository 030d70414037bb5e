import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { describe, expect, it } from 'vitest';
import { makeLmdbFiles } from '../../src/service/store/lmdb-files.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the list of readers of lmdb', () => {
  it('is no hole, and lmdb takes it', async () => {
    const folder = await tempFolder();
    const path = join(folder, 'lock.mdb');
    makeLmdbFiles({ path: folder });
    const { size, blocks } = statSync(path);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    const database = open<string, string>({ path: folder });
    await database.put('a', 'b');
    expect(database.get('a')).toBe('b');
    await database.close();
    expect(statSync(path).size).toBe(size);
    expect(readdirSync(folder).sort()).toEqual(['data.mdb', 'lock.mdb']);
  });

  it('stays as it is where there is one', async () => {
    const folder = await tempFolder();
    const path = join(folder, 'lock.mdb');
    writeFileSync(path, 'in use');
    makeLmdbFiles({ path: folder });
    expect(readFileSync(path, 'utf8')).toBe('in use');
    expect(readdirSync(folder)).toEqual(['lock.mdb']);
  });

  it('is refused where it cannot be made', async () => {
    const folder = await tempFolder();
    expect(() => {
      makeLmdbFiles({ path: join(folder, 'missing') });
    }).toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });
});
