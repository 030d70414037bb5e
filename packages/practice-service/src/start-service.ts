import type { Clock } from '../../../src/lib/clock.ts';
import { requireAddress } from '../../../src/lib/addresses/address.ts';
import { codeOf, ExportError } from '../../../src/lib/export-error.ts';
import type { AssetStore } from './store/asset-store.ts';
import type { AssetSource } from './store/read-records.ts';
import { AssetService, type ServiceCounts } from './asset-service.ts';
import type { Changes } from './changes/change-schema.ts';
import { ChangingStore, type Classify } from './changes/changing-store.ts';
import { CreditBalance, MemorySpent } from './credit-balance.ts';
import { type SpokenDialect, specified, takesKey } from './dialect.ts';
import type { Faults } from './faults/fault-schema.ts';
import { HttpFrame } from './http-frame.ts';
import { SharedSpent } from './store/shared-spent.ts';
import { openAssets } from './store/open-assets.ts';

export interface ServiceOptions {
  /** Paths of JSONL files with a record a line, plain, `.gz` or `.zst`, or of folders of finished exports. */
  readonly assets: readonly string[];
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How it is spoken to; as the specification says unless given. */
  readonly dialect?: SpokenDialect;
  /** Keys that are let in; absent: any. */
  readonly apiKeys?: readonly string[];
  /** Balance of a key for a UTC day; absent: no limit. */
  readonly creditsPerDay?: number;
  /** Credits that a key may spend within a second; absent: no limit. */
  readonly creditsPerSecond?: number;
  /** Price of a call; default 160. */
  readonly creditsPerCall?: number;
  /** Maximum ids per call; default 1000. */
  readonly maxIds?: number;
  /** Time limit for a request to arrive; default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Idle limit of a connection; default 120,000, unlimited with faults. */
  readonly idleTimeoutMs?: number;
  /** Folder of the records and balances on disk; absent: memory. */
  readonly storeDir?: string;
  /** Folder for records that memory does not hold, when no `storeDir` is named. */
  readonly spillDir?: string;
  /** What it is to suffer from, for tests and rehearsals. */
  readonly faults?: Faults;
  /** How the records differ from day to day. */
  readonly changes?: Changes;
  readonly clock: Clock;
  /** Called for an internal error that a client saw as status 500. */
  readonly onError?: (error: unknown) => void;
}

export interface RunningService {
  /** Base address, without what the dialect adds. */
  readonly url: string;
  /** Assets that it serves. */
  readonly assets: number;
  /** What it answered and charged so far. */
  counts(): ServiceCounts;
  /** Sends what was charged, for at most `graceMs` (0 unless given); then open connections are cut. */
  close(graceMs?: number): Promise<void>;
}

/** What the caller knows of records, and the service does not. */
export interface RecordKnowledge {
  readonly readExport: AssetSource['readExport'];
  readonly classify: Classify;
}

/**
 * Starts the service on local data.
 * @throws {ExportError} `input` when the data cannot be read, `usage` when the address cannot be had, `cannotWrite` for the store.
 */
export async function serveFiles(options: ServiceOptions, knowledge: RecordKnowledge): Promise<RunningService> {
  const assets = options.assets.map((text) => requireAddress(text, 'local', 'assets'));
  const store = await openAssets({ assets, readExport: knowledge.readExport }, options);
  return serveAssets(store, options, knowledge);
}

/** Starts the service on assets from anywhere, which it closes at its end. @throws {ExportError} as `serveFiles`. */
export async function serveAssets(
  held: AssetStore,
  options: Omit<ServiceOptions, 'assets'>,
  { classify }: Pick<RecordKnowledge, 'classify'>,
): Promise<RunningService> {
  const { changes, clock, dialect = specified } = options;
  const store = changes === undefined ? held : new ChangingStore(held, changes, { clock, classify });
  const spent = options.storeDir === undefined ? new MemorySpent() : await SharedSpent.open(options.storeDir);
  const balance = new CreditBalance(options, spent, options.clock);
  const service = new AssetService({
    store,
    balance,
    creditsPerCall: options.creditsPerCall ?? 160,
    maxIds: options.maxIds ?? 1000,
    dialect,
    clock: options.clock,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
  });
  const keys = options.apiKeys === undefined ? undefined : new Set(options.apiKeys);
  const frame = new HttpFrame({
    dialect,
    isKey: (key) => keys?.has(key) ?? (key !== '' || !takesKey(dialect)),
    answer: (key, body) => service.answer(key, body),
    onExchange: () => {
      service.countExchange();
    },
    clock: options.clock,
    onError: options.onError ?? (() => undefined),
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    idleTimeoutMs: options.idleTimeoutMs ?? (options.faults === undefined ? 120_000 : 0),
  });
  let closed: Promise<void> | undefined;
  const close = (graceMs?: number): Promise<void> => (closed ??= frame.close(graceMs).then(() => store.close()));
  const address = await frame.listen(options.host, options.port).catch(async (error: unknown) => {
    await close();
    throw cannotListen(options, error);
  });
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${host}:${address.port}`, assets: store.count, counts: () => service.counts(), close };
}

function cannotListen(options: { readonly host: string; readonly port: number }, cause: unknown): ExportError {
  const why = codeOf(cause) === 'EADDRINUSE' ? 'the port is in use' : (codeOf(cause) ?? 'unknown reason');
  return new ExportError('usage', `cannot listen on ${options.host} port ${options.port}: ${why}`, {
    todo: 'Choose another --port (0 for any free port) or --host.',
    cause,
  });
}
