import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type AssetCall, AttemptError } from '../../../../src/core/client/asset-client.ts';
import { callKey } from '../../../../src/core/client/wire/call-body.ts';
import type { HttpClient } from '../../../../src/core/client/wire/http-client.ts';
import { judgeAnswer } from '../../../../src/core/client/wire/judge-answer.ts';
import type { ExportContext } from '../../../../src/core/run/export-context.ts';
import type { ExportOutcome } from '../../../../src/core/run/complete-export.ts';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';
import { SeededRandom } from '../../../../packages/practice-service/src/generated/seeded-random.ts';
import type { Thread } from '../../../../src/core/work/threads/offers.ts';
import { createHurriedClock } from '../../../support/hurried-clock.ts';
import { journalKeys } from '../../../model/support/journal-keys.ts';
import { Killed, MemoryDisk } from '../../../model/support/memory-disk.ts';
import { runExport } from '../../../support/run-export.ts';
import { type ThreadsHere, threadsHere } from '../../../support/threads-here.ts';

const out = '/exports/random';

/** What a random export asks for, and what it meets. */
export interface RandomShape {
  readonly seed: number;
  readonly entries: number;
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
  /** Most ids that the service takes. */
  readonly maxIds: number;
  /** Ids that spoil their calls. */
  readonly poisoned: number;
}

export function randomShape(seed: number): RandomShape {
  const random = new SeededRandom([seed, 3, 3, 3]);
  const idsPerCall = 1 + random.below(5);
  return {
    seed,
    idsPerCall,
    entries: 40 + random.below(40 * idsPerCall),
    rowsPerPart: random.pick([1, 2, 7, 10, 23, 64, 1000]),
    maxIds: random.chance(25) ? Math.max(1, idsPerCall - 1 - random.below(2)) : 1000,
    poisoned: random.chance(25) ? 1 + random.below(3) : 0,
  };
}

export interface RandomRun {
  /** Threads at most; 1 starts none. */
  readonly threads: number;
  /** Share of attempts, in percent, that fail. */
  readonly faultPercent?: number;
  readonly flags?: Readonly<Record<string, string>>;
  /** Threads that the system gives. */
  readonly given?: number;
  /** Sees each thread that was started, and may change it. */
  readonly onStart?: (thread: Thread) => Thread;
  readonly context?: Partial<ExportContext>;
}

/** An export in memory over ids drawn from a seed: valid, repeated, invalid, missing and poisoned ones. */
export class RandomExport {
  readonly disk = new MemoryDisk();
  /** How often each call was sent, by the key of its answer in the journal. */
  readonly asked = new Map<string, number>();
  /** The keys of second requests, for what an answer lacked. */
  readonly #again = new Set<string>();
  /** Threads that the last run started. */
  started = 0;
  onAsk: (call: AssetCall) => void = () => undefined;
  readonly #shape: RandomShape;
  readonly #idsPath: string;
  readonly #missing = new Set<string>();
  readonly #poison = new Set<string>();
  readonly #failedAlone = new Set<string | undefined>();

  constructor(folder: string, shape: RandomShape) {
    this.#shape = shape;
    this.#idsPath = join(folder, `ids-${shape.seed}.txt`);
    const random = new SeededRandom([shape.seed, 5, 5, 5]);
    const ids = Array.from({ length: shape.entries }, (_, n) => generatedId(shape.seed, n));
    for (let n = 0; n < shape.poisoned; n += 1) this.#poison.add(random.pick(ids));
    for (const id of ids) if (random.chance(10)) this.#missing.add(id);
    const lines = ids.map((id) =>
      random.chance(8) ? random.pick(ids) : random.chance(8) ? `no id ${random.below(9)} ü` : id,
    );
    writeFileSync(this.#idsPath, `${lines.join('\n')}\n`);
  }

  /** Resolves to how the run ended; undefined when it was killed. */
  async run(run: RandomRun): Promise<ExportOutcome | undefined> {
    const { threads, faultPercent = 0, flags = {}, context = {}, onStart = same, given = threads } = run;
    const { idsPerCall, rowsPerPart, seed } = this.#shape;
    const clock = createHurriedClock();
    const random = new SeededRandom([seed, threads, faultPercent, this.asked.size]);
    const openWire = (): HttpClient => this.#wire(random, faultPercent);
    const { files } = this.disk;
    const here: ThreadsHere = threadsHere(threads, { clock, files, openWire });
    try {
      return await runExport({
        flags: {
          ids: this.#idsPath,
          out,
          url: 'http://127.0.0.1:9',
          concurrency: '4',
          retries: '1000',
          'ids-per-call': String(idsPerCall),
          'rows-per-part': String(rowsPerPart),
          format: 'csv,jsonl',
          tables: 'assets,creators',
          ...flags,
        },
        context: {
          files,
          clock,
          openWire,
          threads: {
            most: threads,
            start: (settings) => {
              if (here.started() >= given) throw new Error('no thread more');
              return onStart(here.threads.start(settings));
            },
          },
          ...context,
        },
      });
    } catch (error) {
      // Of a stop within a thread only its message is left.
      if (error instanceof Killed || this.disk.dead) return undefined;
      throw error;
    } finally {
      this.started = here.started();
    }
  }

  /** The bytes of every file that a reader sees; of the manifest, what does not tell of the calls. */
  published(): Readonly<Record<string, string>> {
    const all = [...this.disk.tree.all()].map(
      ([path, inode]) => [path.slice(out.length + 1), inode.content()] as const,
    );
    const seen = all.filter(([path]) => !path.startsWith('.run/') && path !== 'runs.jsonl');
    return Object.fromEntries(seen.map(([path, content]) => [path, essence(path, content)]));
  }

  /** Calls whose answers are kept now. */
  keptAnswers(): Set<string> {
    const journals = [...this.disk.tree.all()].filter(([path]) => path.endsWith('.journal'));
    return new Set(journals.flatMap(([, inode]) => journalKeys(inode.content())));
  }

  /** `asked`, without second requests: the order of answers decides which ids go with them as witnesses. */
  askedFirst(): Map<string, number> {
    return new Map([...this.asked].filter(([key]) => !this.#again.has(key)));
  }

  calls(): number {
    return [...this.asked.values()].reduce((sum, times) => sum + times, 0);
  }

  #wire(random: SeededRandom, faultPercent: number): HttpClient {
    return {
      ask: async (call) => {
        if (this.disk.dead) throw new Killed();
        const key = callKey(call);
        this.asked.set(key, (this.asked.get(key) ?? 0) + 1);
        if (call.again !== undefined) this.#again.add(key);
        this.onAsk(call);
        for (let turns = 1 + random.below(4); turns > 0; turns -= 1)
          await new Promise((resolve) => setImmediate(resolve));
        if (random.chance(faultPercent) && this.#mayFail(call)) throw fault(random);
        const wire = { status: 200, retryAfter: undefined, body: Buffer.from(this.#answerText(call)) };
        return judgeAnswer(wire, call, { scrub: (text) => text, nowMs: 0 });
      },
      close: () => Promise.resolve(),
    };
  }

  /** An id whose call fails twice while others go well is to blame, and becomes `failed`: chance alone must not make one. */
  #mayFail({ ids }: AssetCall): boolean {
    if (ids.length > 1) return true;
    const isFirst = !this.#failedAlone.has(ids.first);
    this.#failedAlone.add(ids.first);
    return isFirst;
  }

  #answerText(call: AssetCall): string {
    const ids = [...call.ids];
    if (ids.length > this.#shape.maxIds) return refusal(-32602, `Batch Size Error: at most ${this.#shape.maxIds} ids`);
    if (ids.some((id) => this.#poison.has(id))) return refusal(-32000, 'Pubkey Validation Err: a key is invalid');
    // Beside records of its own only: an answer with no other record counts as that of another call.
    const hasForeign = ids.length % 2 === 0 && ids.some((id) => !this.#missing.has(id));
    const foreign = hasForeign ? [generatedRecord(generatedId(77, ids.length))] : [];
    const records = ids.map((id) => (this.#missing.has(id) ? 'null' : generatedRecord(id)));
    return `{"jsonrpc":"2.0","result":[${[...foreign, ...records].join()}],"id":1}`;
  }
}

function same(thread: Thread): Thread {
  return thread;
}

function refusal(code: number, message: string): string {
  return `{"jsonrpc":"2.0","error":${JSON.stringify({ code, message })},"id":1}`;
}

function fault(random: SeededRandom): AttemptError {
  return random.pick<AttemptError>([
    new AttemptError('pace', 'HTTP 429', { status: 429, waitMs: 2000 }),
    new AttemptError('transport', 'HTTP 503', { status: 503 }),
    new AttemptError('transport', 'connection reset'),
  ]);
}

/** Which calls are made depends on failures, and so does what their answers held besides. */
const ofCalls = ['foreignRecords', 'repeatedRecords', 'recordsWithoutId', 'otherResponseIds'];

function essence(path: string, content: Buffer): string {
  if (basename(path) !== 'manifest.json') return content.toString('latin1');
  const manifest = JSON.parse(content.toString(), (name, value: unknown) =>
    ofCalls.includes(name) ? 0 : value,
  ) as object;
  return JSON.stringify({ ...manifest, calls: 0, credits: 0, seal: '', startedAtMs: 0 });
}
