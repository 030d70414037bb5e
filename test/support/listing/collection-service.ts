import { appendFileSync, writeFileSync } from 'node:fs';
import { dialectNamed } from '../../../src/core/job/job-dialect.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { idOfBytes } from '../../../src/lib/ids/asset-id.ts';
import { type RunningService, type ServiceFaults, startService } from '../../../src/practice-service.ts';
import { seeded } from './simulated-index.ts';

/** The collection whose members are served. */
export const servedCollection = 'J1S9H3QjnRtBbbuD4HjPV6RpRhwuk4zKbxsnCHuTgh9w';

/** Ids spread over the key space like hashes, sorted by bytes. */
export function memberIds(count: number, seed = 1): string[] {
  const random = seeded(seed);
  const keys = Array.from({ length: count }, () => Buffer.from(Array.from({ length: 32 }, () => random() * 256)));
  return keys.sort((one, other) => Buffer.compare(one, other)).map((key) => idOfBytes(key));
}

/** Writes a file of records, all of them members. */
export function writeMembers(path: string, ids: readonly string[]): string {
  writeFileSync(path, '');
  for (let from = 0; from < ids.length; from += 10_000)
    appendFileSync(
      path,
      ids
        .slice(from, from + 10_000)
        .map(memberRecord)
        .join(''),
    );
  return path;
}

function memberRecord(id: string): string {
  const record = {
    interface: 'V1_NFT',
    id,
    content: { metadata: { name: `Member ${id.slice(0, 6)}`, symbol: 'MBR' } },
    grouping: [{ group_key: 'collection', group_value: servedCollection, verified: true }],
    ownership: { frozen: false, delegated: false, ownership_model: 'single', owner: servedCollection },
    supply: { print_max_supply: 0, print_current_supply: 0, edition_nonce: null },
    mutable: true,
    burnt: false,
  };
  return `${JSON.stringify(record)}\n`;
}

/** Serves a file of members. */
export function serveMembers(
  file: string,
  { dialect = 'helius', faults = [] }: { readonly dialect?: string; readonly faults?: ServiceFaults['faults'] } = {},
): Promise<RunningService> {
  const row = dialectNamed(dialect);
  return startService({
    assets: [file],
    host: '127.0.0.1',
    port: 0,
    dialect: row,
    creditsPerCall: row.list.creditsPerPage,
    faults: { faults },
    clock: systemClock,
  });
}
