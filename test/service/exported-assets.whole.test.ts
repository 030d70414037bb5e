import { createWriteStream, existsSync } from 'node:fs';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, stringifyJson } from '../../src/lib/json/json.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { readExport, startService } from '../../src/practice-service.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { runsAll } from '../support/lane.ts';
import { exportBytes, runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const realAssets = fileURLToPath(new URL('../../../shared/data/real-assets.jsonl', import.meta.url));
const allTables = 'assets,creators,authorities,grouping,files,attributes';

interface Leg {
  readonly assets: string;
  readonly ids: string;
  readonly out: string;
  readonly formats: string;
  readonly tables?: string;
}

/** Serves assets and exports them. */
async function exportFrom({ assets, ids, out, formats, tables = allTables }: Leg): Promise<void> {
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  try {
    const outcome = await runExport({
      flags: {
        ids,
        out,
        url: service.url,
        format: formats,
        tables,
        'ids-per-call': '50',
        'rows-per-part': '200',
        'show-fungible': true,
        'show-collection-metadata': true,
      },
    });
    expect(outcome.state).toBe('complete');
  } finally {
    await service.close();
  }
}

async function roundTrip(folder: string, formats: string): Promise<void> {
  const ids = join(folder, 'ids.txt');
  const first = join(folder, 'first');
  const second = join(folder, 'second');
  await exportFrom({ assets: join(folder, 'assets.jsonl'), ids, out: first, formats });
  await exportFrom({ assets: first, ids, out: second, formats });
  expect(exportBytes(second)).toEqual(exportBytes(first));
}

/** What a specified record has in the members that may be null. */
function nullsOf(record: JsonObject): string {
  const { supply, ownership, royalty } = record;
  return stringifyJson([
    isJsonObject(supply) ? (supply['edition_nonce'] ?? null) : (supply ?? null),
    isJsonObject(ownership) && 'delegate' in ownership && ownership['delegate'],
    isJsonObject(royalty) && 'target' in royalty && royalty['target'],
  ]);
}

describe('the service on the folder of a finished export', () => {
  for (const formats of ['parquet', 'csv', 'jsonl', 'csv,jsonl,raw']) {
    it(`gives the export again, byte for byte, from ${formats}`, async () => {
      const folder = await tempFolder();
      const ids = Array.from({ length: runsAll ? 900 : 300 }, (_, n) => generatedId(5, n));
      await writeFile(join(folder, 'ids.txt'), ids.join('\n'));
      await pipeline(
        Readable.from(ids.map((id) => `${generatedRecord(id)}\n`)),
        createWriteStream(join(folder, 'assets.jsonl')),
      );
      await roundTrip(folder, formats);
    });

    it.skipIf(!existsSync(realAssets))(`gives real assets again, byte for byte, from ${formats}`, async () => {
      const folder = await tempFolder();
      await copyFile(realAssets, join(folder, 'assets.jsonl'));
      const records = (await readFile(realAssets, 'utf8')).trimEnd().split('\n');
      const ids = records.map((text) => (JSON.parse(text) as { readonly id: string }).id);
      await writeFile(join(folder, 'ids.txt'), ids.join('\n'));
      await roundTrip(folder, formats);
    });
  }

  it('has null where the specification does', async () => {
    const folder = await tempFolder();
    const ids = Array.from({ length: 60 }, (_, n) => generatedId(5, n));
    const [list, assets, out] = [join(folder, 'ids.txt'), join(folder, 'assets.jsonl'), join(folder, 'out')];
    await writeFile(list, ids.join('\n'));
    await writeFile(assets, ids.map((id) => `${generatedRecord(id)}\n`).join(''));
    await exportFrom({ assets, ids: list, out, formats: 'csv' });
    const served: string[] = [];
    for (const file of await readExport(out))
      if ('records' in file) for await (const some of file.records) served.push(...some.map(nullsOf));
    expect(served).toEqual(ids.map((id) => nullsOf(JSON.parse(generatedRecord(id)) as JsonObject)));
  });

  it('refuses a folder that is no finished export, and one without assets, and says so', async () => {
    const folder = await tempFolder();
    await expect(exportFrom({ assets: folder, ids: '', out: '', formats: 'csv' })).rejects.toMatchObject({
      exit: 'input',
      message: expect.stringContaining('has neither a manifest') as string,
    });
    const [ids, out] = [join(folder, 'ids.txt'), join(folder, 'out')];
    await writeFile(ids, generatedId(5, 1));
    await writeFile(join(folder, 'assets.jsonl'), generatedRecord(generatedId(5, 1)));
    const leg = { assets: join(folder, 'assets.jsonl'), ids, out, formats: 'csv', tables: 'creators' };
    await exportFrom(leg);
    await expect(exportFrom({ ...leg, assets: out })).rejects.toMatchObject({
      exit: 'input',
      message: expect.stringContaining('neither raw files nor a usable assets table') as string,
    });
    await rm(join(out, 'manifest.json'));
    await writeFile(join(out, 'manifest.json'), JSON.stringify({ files: [] }));
    await expect(exportFrom({ ...leg, assets: out })).rejects.toMatchObject({ exit: 'input' });
  });
});
