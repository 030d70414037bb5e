import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DialectLists } from '../../../src/core/client/dialects.ts';
import { createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { dialectNamed } from '../../../src/core/job/job-dialect.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import {
  type ListContext,
  type ListEvent,
  listIds,
  type ListIdsRequest,
  type ListOutcome,
} from '../../../src/wings/listing/index.ts';
import { createHurriedClock, type HurriedClock } from '../hurried-clock.ts';
import { tempFolder } from '../temp-folder.ts';
import type { ListWire } from './list-wire.ts';

export const listedAddress = 'HCxLACFsPiMVWgup5JyWJEYBKVMcDtAb493aPVNJTwGq';

export interface ListHere {
  /** Of the list. */
  readonly out: string;
  /** What is listed unless a run says otherwise. */
  readonly query: ListIdsRequest['query'];
  readonly dialect: ListIdsRequest['dialect'];
  readonly events: ListEvent[];
  readonly clock: HurriedClock;
  readonly ledger: ReturnType<typeof createMemoryLedger>;
  run(request?: Partial<ListIdsRequest>, context?: Partial<ListContext>): Promise<ListOutcome>;
  /** The ids of the list; undefined where there is none. */
  ids(path?: string): Promise<string[] | undefined>;
}

export interface ListHereOptions {
  readonly dialect?: string;
  readonly lists?: Partial<DialectLists>;
  readonly flags?: Readonly<Record<string, unknown>>;
}

/** Lists of a wire, in a folder of the test. */
export async function listHere(
  wire: ListWire,
  { dialect: name = 'helius', lists, flags }: ListHereOptions = {},
): Promise<ListHere> {
  const folder = await tempFolder();
  const out = join(folder, 'mints.txt');
  const { list: known, ...service } = dialectNamed(name);
  const dialect = { ...service, list: { ...known, ...lists } };
  const { job } = loadJob({
    flags: { ids: '-', out: folder, url: 'http://127.0.0.1:1', dialect: name, concurrency: '1', ...flags },
    folder,
  });
  const events: ListEvent[] = [];
  const clock = createHurriedClock();
  const ledger = createMemoryLedger();
  const never = new AbortController().signal;
  const query = {
    filter: 'collection',
    address: listedAddress,
    onlyVerified: false,
    flags: job.service.flags,
  } as const;
  return {
    out,
    query,
    dialect,
    events,
    clock,
    ledger,
    run: (request, context) =>
      listIds(
        {
          job,
          dialect,
          query,
          out,
          fresh: false,
          ...request,
        },
        {
          clock,
          random: () => 0.5,
          files: localDisk,
          service: { url: 'http://127.0.0.1:1', apiKey: 'key', dialect },
          proxy: undefined,
          ledger,
          openWire: wire.open,
          stop: never,
          abort: never,
          version: '0.0.0',
          listener: () => undefined,
          onEvent: (event) => events.push(event),
          ...context,
        },
      ),
    ids: async (path = out) => {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      return text?.trim().split('\n');
    },
  };
}
