import { createWriteStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { memoryAssets } from '../../packages/practice-service/src/store/asset-store.ts';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { readExport } from '../../src/practice-service.ts';
import { openAssets } from '../../packages/practice-service/src/store/open-assets.ts';
import { tempFolder } from '../support/temp-folder.ts';

it('keeps records that memory does not hold in the spill folder, or says how to keep them', async () => {
  const folder = await tempFolder();
  const path = join(folder, 'assets.jsonl');
  const lines = function* (): Generator<string> {
    for (let n = 0; n <= memoryAssets; n += 1) yield `{"id":"${generatedId(3, n)}"}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  const source = { assets: [path], readExport };
  await expect(openAssets(source, {})).rejects.toMatchObject({ exit: 'usage' });
  const store = await openAssets(source, { spillDir: join(folder, 'spill') });
  expect(store.count).toBe(memoryAssets + 1);
  expect(store.get(generatedId(3, memoryAssets))?.text.toString('utf8')).toContain(generatedId(3, memoryAssets));
  await store.close();
  expect(readdirSync(folder).sort()).toEqual(['assets.jsonl', 'spill']);
}, 120_000);
