import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/lib/clock.ts';
import { startService } from '../../../src/practice-service.ts';
import { conformanceIds, conformanceRecords } from './records.ts';

/** A server under test, as plain HTTP sees it. */
export interface Target {
  /** Base address, without `/v3`. */
  readonly url: string;
  readonly key: string;
  /** Ids that the server has records for. */
  readonly ids: readonly string[];
  /** Valid ids that it has none for. */
  readonly absentIds: readonly string[];
  /** True for the service of this project: then every row must pass and every field must be seen. */
  readonly isOwn: boolean;
}

/** Names of the environment variables that point the suite at another server. */
export const variables = {
  url: 'ASSET_SERVICE_URL',
  key: 'ASSET_SERVICE_KEY',
  ids: 'ASSET_SERVICE_IDS',
} as const;

/** The server that the environment names, else this project's own, started on the suite's records. */
export async function openTarget(): Promise<Target & { close(): Promise<void> }> {
  const { [variables.url]: url, [variables.key]: key, [variables.ids]: ids } = process.env;
  if (url === undefined) return openOwn();
  if (key === undefined || ids === undefined)
    throw new Error(`${variables.url} wants ${variables.key} and ${variables.ids} too`);
  const known = ids.split(',').map((id) => id.trim());
  return {
    url: url.replace(/\/+$/, ''),
    key,
    ids: known,
    absentIds: conformanceIds.absent,
    isOwn: false,
    close: async () => undefined,
  };
}

async function openOwn(): Promise<Target & { close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const assets = join(folder, 'assets.jsonl');
  writeFileSync(assets, conformanceRecords.join('\n'));
  const service = await startService({
    assets: [assets],
    host: '127.0.0.1',
    port: 0,
    apiKeys: ['right key'],
    creditsPerDay: 10_000_000,
    clock: systemClock,
  });
  return {
    url: service.url,
    key: 'right%20key',
    ids: conformanceIds.present,
    absentIds: conformanceIds.absent,
    isOwn: true,
    close: async () => {
      await service.close();
      rmSync(folder, { recursive: true });
    },
  };
}
