import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Zstd } from '@hpcc-js/wasm-zstd';
import { describe, expect, it } from 'vitest';
import { readExport } from '../../src/practice-service.ts';
import { readRecords } from '../../packages/practice-service/src/store/read-records.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { call, fileOf, idOf, serve, temporaryFolder } from './local-service.ts';

const everything = { showFungible: true, showCollectionMetadata: true };

async function textsOf(path: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const records of readRecords({ assets: [path], readExport })) {
    for (const { record } of records) texts.push(record.text.toString());
  }
  return texts;
}

describe('reading records', () => {
  const lines = Array.from({ length: 500 }, (_, n) => generatedRecord(generatedId(1, n)));

  it('keeps every text as it stands, whatever the file is packed with', async () => {
    const bytes = Buffer.from(`\uFEFF${lines.slice(0, 250).join('\n')}\n\n`);
    const rest = Buffer.from(lines.slice(250).join('\r\n'));
    const zstd = await Zstd.load();
    const folder = temporaryFolder();
    const files = {
      'a.jsonl': Buffer.concat([bytes, rest]),
      'a.jsonl.gz': Buffer.concat([gzipSync(bytes), gzipSync(rest)]),
      'a.jsonl.zst': Buffer.concat([zstd.compress(bytes), zstd.compress(rest)]),
    };
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content);
      expect(await textsOf(join(folder, name))).toEqual(lines);
    }
  });

  it.each([
    ['{"id":"x"}', 'has no valid asset id in "id"'],
    ['[]', 'is not a JSON object'],
    ['{"id":', 'is not JSON'],
    [idOf(2), 'is an asset id, not a record'],
    [`"${idOf(2)}",wallet`, 'is an asset id, not a record'],
  ])('refuses %s with file and line', async (line, why) => {
    const path = fileOf([`{"id":"${idOf(1)}"}`, '', line]);
    await expect(textsOf(path)).rejects.toThrow(`${path}:3: the line ${why}`);
  });

  it('says which file is missing or cut short', async () => {
    await expect(textsOf('/nowhere/a.jsonl')).rejects.toThrow('cannot read assets from /nowhere/a.jsonl: no such file');
    const path = join(temporaryFolder(), 'cut.jsonl.gz');
    writeFileSync(path, gzipSync(lines.join('\n')).subarray(0, -10));
    await expect(textsOf(path)).rejects.toThrow(`cannot read assets from ${path}: `);
  });
});

const real = new URL('../../../shared/data/real-assets.jsonl', import.meta.url);

describe.skipIf(!existsSync(real))('real records', () => {
  it('are served as the file has them, number text included', async () => {
    const lines = readFileSync(real, 'utf8').trimEnd().split('\n');
    const service = await serve(lines);
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    expect(await call(service, 'getAssets', [ids, everything])).toBe(
      `{"jsonrpc":"2.0","result":[${lines.join(',')}],"id":1}`,
    );
  });
});
