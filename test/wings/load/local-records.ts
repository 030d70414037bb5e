import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../src/lib/json/json.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { startService } from '../../../src/practice-service.ts';
import { parseObject } from '../../core/records/any-json.ts';
import { keptFolder } from '../../support/temp-folder.ts';

export interface LocalRecords {
  readonly url: string;
  readonly ids: readonly string[];
  /** How many of the first `count` records have an empty json_uri. */
  emptyUris(count: number): number;
  close(): Promise<void>;
}

/** Ends the data where it stands on a line of its own, for psql before version 18 even inside quotes: `load` is no psql. */
const endOfData = '\\.';

const blanks = ['', ' x ', '\tx', 'x ', ' '];

/** The service on 200 records, one in ten of which has an empty json_uri, a name that CSV must quote, and blanks in bare cells. */
export async function startLocalService(): Promise<LocalRecords> {
  const { path, remove } = await keptFolder();
  const records = Array.from({ length: 200 }, (_, n): JsonObject => {
    const record = parseObject(generatedRecord(generatedId(31, n)));
    const metadata = {
      name: `a,"b"\r\n${n < 100 ? '' : endOfData}\n\\N\té😀`,
      symbol: blanks[(n / 10) % blanks.length] ?? '',
      description: '\ufeffx',
    };
    return n % 10 === 0 ? { ...record, content: { ...contentOf(record), json_uri: '', metadata } } : record;
  });
  const assets = join(path, 'assets.jsonl');
  await writeFile(assets, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  const uris = records.map((record) => contentOf(record)['json_uri']);
  return {
    url: service.url,
    ids: records.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
    emptyUris: (count) => uris.slice(0, count).filter((uri) => uri === '').length,
    close: async () => {
      await service.close();
      await remove();
    },
  };
}

function contentOf({ content }: JsonObject): JsonObject {
  return isJsonObject(content) ? content : {};
}
