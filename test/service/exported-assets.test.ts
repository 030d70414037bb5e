import { createWriteStream, existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { startService } from '../../src/service/start-service.ts';
import { generatedId, generatedRecord } from '../../src/service/generated/generated-assets.ts';
import { exportBytes, runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const realAssets = fileURLToPath(new URL('../../../shared/data/real-assets.jsonl', import.meta.url));
const tables = 'assets,creators,authorities,grouping,files,attributes';

interface Leg {
  readonly assets: string;
  readonly ids: string;
  readonly out: string;
  readonly formats: string;
}

/** Serves assets and exports them. */
async function exportFrom({ assets, ids, out, formats }: Leg): Promise<void> {
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  try {
    const outcome = await runExport({
      flags: {
        ...{ ids, out, url: service.url, format: formats, tables, 'rows-per-part': '200' },
        ...{ 'show-fungible': true, 'show-collection-metadata': true },
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

describe('the service on the folder of a finished export', () => {
  for (const formats of ['parquet', 'csv', 'jsonl', 'csv,jsonl,raw']) {
    it(`gives the export again, byte for byte, from ${formats}`, async () => {
      const folder = await tempFolder();
      const ids = Array.from({ length: 900 }, (_, n) => generatedId(5, n));
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
      await copyFile(realAssets.replace('assets.jsonl', 'ids.txt'), join(folder, 'ids.txt'));
      await roundTrip(folder, formats);
    });
  }

  it('refuses a folder that is no finished export, and one without assets, and says so', async () => {
    const folder = await tempFolder();
    await expect(exportFrom({ assets: folder, ids: '', out: '', formats: 'csv' })).rejects.toMatchObject({
      exit: 'input',
      message: expect.stringContaining('no manifest.json') as string,
    });
    await mkdir(join(folder, 'other'));
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ files: [] }));
    await expect(exportFrom({ assets: folder, ids: '', out: '', formats: 'csv' })).rejects.toMatchObject({
      message: expect.stringContaining('neither raw files nor the assets table') as string,
    });
    await rm(join(folder, 'manifest.json'));
  });
});
