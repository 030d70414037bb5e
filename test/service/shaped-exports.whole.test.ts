import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringifyJson, type JsonObject } from '../../src/lib/json/json.ts';
import { flattenAsset } from '../../src/core/records/flatten-asset.ts';
import { csvDialectNames } from '../../src/core/formats/sink.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { startService } from '../../src/practice-service.ts';
import { parseObject } from '../core/records/any-json.ts';
import { runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ids = Array.from({ length: 150 }, (_, n) => generatedId(77, n));

/** Exports 150 generated records, with flags; one has the text that is null in some dialects. */
async function exported(flags: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await tempFolder();
  const assets = join(folder, 'assets.jsonl');
  const records = ids.map((id, n) =>
    n === 0 ? `{"id":"${id}","interface":"\\\\N","burnt":false}` : generatedRecord(id),
  );
  await writeFile(assets, records.map((record) => `${record}\n`).join(''));
  return exportOf(assets, flags);
}

async function exportOf(assets: string, flags: Readonly<Record<string, unknown>>): Promise<string> {
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  const folder = await tempFolder();
  const [out, list] = [join(folder, 'out'), join(folder, 'ids.txt')];
  await writeFile(list, ids.join('\n'));
  try {
    const { state } = await runExport({ flags: { ids: list, url: service.url, out, 'show-fungible': true, ...flags } });
    expect(state).toBe('complete');
    return out;
  } finally {
    await service.close();
  }
}

/** The record of each id as the service on the folder answers it, through its row: members in one order. */
async function answersOf(folder: string): Promise<Map<unknown, string>> {
  const service = await startService({ assets: [folder], host: '127.0.0.1', port: 0, clock: systemClock });
  try {
    const params = [ids, { showFungible: true }];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params });
    const response = await fetch(`${service.url}/v3/key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { result } = parseObject(await response.text()) as { result: JsonObject[] };
    return new Map(
      result.map((record) => [
        record['id'],
        flattenAsset(record)
          .row.map((cell) => (typeof cell === 'bigint' ? String(cell) : stringifyJson(cell)))
          .join('\n'),
      ]),
    );
  } finally {
    await service.close();
  }
}

describe('the service on an export whose job shaped its tables', () => {
  it.each([
    ['jsonl', { rename: 'id=asset,burnt=gone', 'exported-at': true }],
    ['csv', { rename: 'id=asset', compression: 'csv=gzip' }],
    ...csvDialectNames.map((name): [string, object] => ['csv', { 'csv-dialect': name }]),
    ['parquet', { rename: 'burnt=gone,extra=more' }],
  ])('answers what it answered before: %s %j', async (format, flags) => {
    const plain = await answersOf(await exported({ format: 'raw' }));
    expect(plain.size).toBe(ids.length);
    expect(await answersOf(await exported({ format, ...flags }))).toEqual(plain);
  });

  it.each([{ exclude: 'burnt,extra' }, { columns: 'id,burnt' }])(
    'says which columns are missing: %j',
    async (flags) => {
      const folder = await exported({ format: 'csv', ...flags });
      await expect(answersOf(folder)).rejects.toThrow(/: its job omitted \w+/);
    },
  );

  it('needs no columns where raw files are there', async () => {
    const folder = await exported({ format: 'csv,raw', columns: 'id' });
    expect((await answersOf(folder)).size).toBe(ids.length);
  });

  it('does not take cells that were changed for spreadsheets', async () => {
    const folder = await exported({ format: 'csv', 'csv-formulas': 'escape' });
    await expect(answersOf(folder)).rejects.toThrow('CSV written with csv.formulas: escape cannot be used');
  });
});
