import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../../src/lib/clock.ts';
import { isJsonObject, type JsonObject } from '../../../../src/lib/json/json.ts';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';
import { startService } from '../../../../src/practice-service.ts';
import { parseObject } from '../../../core/records/any-json.ts';
import { runExport } from '../../../support/run-export.ts';
import { keptFolder, tempFolder } from '../../../support/temp-folder.ts';

export const assetIds = Array.from({ length: 240 }, (_, n) => generatedId(47, n));
const generated = assetIds.map((id) => parseObject(generatedRecord(id)));

/** A column of each type, and those that change from night to night: a third of all, for half of the CPU time. */
export const fewColumns =
  'id,interface,content_json_uri,content_files,content_metadata_name,content_metadata_description,content_links,' +
  'ownership_owner,royalty_percent,creators,collection,supply_print_max_supply,burnt,token_info_supply,extra';

/** What the service says of an asset in a night; undefined when it does not know it. */
export type NightRecord = (record: JsonObject, n: number) => JsonObject | undefined;

function objectIn(record: JsonObject, name: string): JsonObject {
  const member = record[name];
  return isJsonObject(member) ? member : {};
}

const named = (record: JsonObject, name: string): JsonObject => {
  const content = objectIn(record, 'content');
  return { ...record, content: { ...content, metadata: { ...objectIn(content, 'metadata'), name } } };
};

const priced = (record: JsonObject, price: number): JsonObject => ({
  ...record,
  token_info: { symbol: 'T', price_info: { price_per_token: price } },
});

/** The first night: 200 of 240 assets, some of them with a price. */
export const firstNight: NightRecord = (record, n) => {
  if (n >= 200) return undefined;
  return n % 7 === 0 ? priced(record, n) : record;
};

/** The second: new ones, gone ones, other owners, names and creators, new prices, and one that is known no more. */
export const secondNight: NightRecord = (record, n) => {
  const before = firstNight(record, n);
  if (before === undefined) return n < 220 ? record : undefined;
  if (n === 150) return undefined;
  if (n % 7 === 0) return n % 14 === 0 ? priced(record, n + 0.5) : { ...priced(record, n + 0.5), burnt: true };
  if (n % 10 === 1) return { ...before, ownership: { ...objectIn(before, 'ownership'), owner: generatedId(5, n) } };
  if (n % 10 === 2) return named(before, `a,"b"\r\n\té😀${n}`);
  if (n % 10 === 3) return { ...before, creators: [{ address: generatedId(6, n), share: 100, verified: false }] };
  return before;
};

/** The third: some go back to what they were. */
export const thirdNight: NightRecord = (record, n) => (n % 3 === 0 ? firstNight(record, n) : secondNight(record, n));

export interface NightOptions {
  readonly record: NightRecord;
  /** Which ids are asked for; all of them unless named. */
  readonly ids?: readonly string[];
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Where it goes; a new folder unless named. */
  readonly out?: string;
}

/** Exports a night. */
export async function exportNight({ record, ids = assetIds, flags = {}, out }: NightOptions): Promise<string> {
  const into = out ?? join(await tempFolder(), 'out');
  const { path: folder, remove } = await keptFolder();
  const records = generated.flatMap((whole, n) => {
    const found = record(whole, n);
    return found === undefined ? [] : [`${JSON.stringify(found)}\n`];
  });
  await writeFile(join(folder, 'assets.jsonl'), records.join(''));
  await writeFile(join(folder, 'ids.txt'), ids.join('\n'));
  const assets = [join(folder, 'assets.jsonl')];
  const service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
  const parts = { 'ids-per-call': '20', 'rows-per-part': '60', 'show-fungible': true };
  const plain = { format: 'parquet,jsonl', tables: 'assets,creators,files', ...parts };
  try {
    const all = { ...plain, ids: join(folder, 'ids.txt'), url: service.url, ...flags, out: into };
    const { state, error } = await runExport({ flags: all });
    if (state !== 'complete') throw error ?? new Error(state);
    return into;
  } finally {
    await service.close();
    await remove();
  }
}
