import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetAnswer, AssetCall } from '../../../src/core/client/asset-client.ts';
import { callKey, requestId } from '../../../src/core/client/wire/call-body.ts';
import type { HttpClient } from '../../../src/core/client/wire/http-client.ts';
import { judgeAnswer } from '../../../src/core/client/wire/judge-answer.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { ExportContext } from '../../../src/core/run/export-context.ts';
import type { ExportOutcome } from '../../../src/core/run/complete-export.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { type MakeExport, runExport } from '../../support/run-export.ts';
import { journalKeys } from './journal-keys.ts';
import type { Inode } from './memory-tree.ts';
import { Killed, MemoryDisk } from './memory-disk.ts';

/** Where the export lies in memory. */
const out = '/exports/small';

const ids = Array.from({ length: 30 }, (_, n) => generatedId(9, n));
const missing = new Set([ids[3], ids[21]]);
const [, , , , , , , , , spoiling = ''] = ids;

/** 30 ids in calls of 4 and parts of 11 entries, with what can happen to an entry: missing, invalid, repeated, failed. */
export function writeSmallIds(folder: string): string {
  const path = join(folder, 'ids.txt');
  const entries = [...ids.slice(0, 6), 'not-an-id', ...ids.slice(6, 14), ids[2], ...ids.slice(14), 'nor-this', ids[0]];
  writeFileSync(path, `${entries.join('\n')}\n`);
  return path;
}

const bodies = new Map<string, Buffer>();

/** What the service says to a call when nothing goes wrong. */
export function goodAnswer(call: AssetCall): AssetAnswer {
  return answerOf(call, bodyOf(call));
}

/** The same with records as they were before. */
export function earlierAnswer(call: AssetCall): AssetAnswer {
  return answerOf(call, Buffer.from(bodyOf(call).toString().replaceAll('"burnt":false', '"burnt":true')));
}

function answerOf(call: AssetCall, body: Buffer): AssetAnswer {
  const wire = { status: 200, retryAfter: undefined, body };
  return judgeAnswer(wire, call, { scrub: (text) => text, nowMs: 0 });
}

function bodyOf(call: AssetCall): Buffer {
  const key = callKey(call);
  const body = bodies.get(key) ?? Buffer.from(answerText(call));
  bodies.set(key, body);
  return body;
}

function answerText(call: AssetCall): string {
  const ids = [...call.ids];
  if (ids.includes(spoiling)) {
    return `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Pubkey Validation Err: a key is invalid"},"id":${requestId(call)}}`;
  }
  return `{"jsonrpc":"2.0","result":[${ids.map((id) => (missing.has(id) ? 'null' : generatedRecord(id))).join()}],"id":${requestId(call)}}`;
}

export interface SmallRun {
  /** When it begins, in milliseconds since 1970; the system's time unless given. */
  readonly startMs?: number;
  readonly fresh?: boolean;
  readonly rowsPerPart?: number;
  readonly flags?: Readonly<Record<string, string>>;
  readonly context?: Partial<ExportContext>;
  readonly make?: MakeExport;
}

/** An export in memory, run after run, on one disk. It counts what the service is asked. */
export class SmallExport {
  readonly disk: MemoryDisk;
  /** How often the service was asked each call, by the key of its answer in the journal. */
  readonly asked = new Map<string, number>();
  readonly #idsPath: string;

  constructor(idsPath: string, disk = new MemoryDisk()) {
    this.#idsPath = idsPath;
    this.disk = disk;
  }

  /** Resolves to how the run ended; undefined when it was killed. @throws what is neither that nor a failed disk */
  async run({
    fresh = false,
    rowsPerPart = 11,
    flags = {},
    context = {},
    startMs,
    make,
  }: SmallRun = {}): Promise<ExportOutcome | undefined> {
    try {
      return await runExport({
        fresh,
        make,
        flags: {
          ids: this.#idsPath,
          out,
          url: 'http://127.0.0.1:9',
          'ids-per-call': '4',
          'rows-per-part': String(rowsPerPart),
          concurrency: '3',
          format: 'csv,jsonl',
          tables: 'assets,creators',
          compression: 'jsonl=zstd',
          ...flags,
        },
        context: {
          files: this.disk.files,
          openWire: () => this.#wire(),
          freeSpace: () => Promise.resolve(1e12),
          ...(startMs === undefined ? {} : { clock: { ...systemClock, now: () => startMs } }),
          ...context,
        },
      });
    } catch (error) {
      if (error instanceof Killed) return undefined;
      throw error;
    }
  }

  /** Every file that a reader of the export sees, by its path in it; the history of its runs promises nothing. */
  published(): Map<string, Pick<Inode, 'content'>> {
    const own = [...this.disk.tree.all()].filter(([path]) => path.startsWith(`${out}/`));
    const all = own.map(([path, inode]) => [path.slice(out.length + 1), inode] as const);
    return new Map(all.filter(([path]) => !path.startsWith('.run/') && path !== 'runs.jsonl'));
  }

  /** Calls whose answers the journals held at some time: at least up to the last sync, or all that was written. */
  keptAnswers(which: 'synced' | 'written'): Set<string> {
    const journals = this.disk.made.filter(({ path }) => path.endsWith('.journal'));
    return new Set(journals.flatMap(({ inode }) => journalKeys(which === 'synced' ? inode.synced() : inode.content())));
  }

  #wire(): HttpClient {
    return {
      ask: async (call) => {
        if (this.disk.dead) throw new Killed();
        const key = callKey(call);
        this.asked.set(key, (this.asked.get(key) ?? 0) + 1);
        await turns(1 + (key.charCodeAt(0) % 3));
        return goodAnswer(call);
      },
      close: () => Promise.resolve(),
    };
  }
}

/** Answers take a while, and overtake each other. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
