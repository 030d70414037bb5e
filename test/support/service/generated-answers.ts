import {
  generatedId,
  generatedRecord,
  isMissing,
} from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { randomOf, seedOf } from '../../../packages/practice-service/src/generated/seeded-random.ts';

export interface AnswerOptions {
  /** Share of ids, in percent, that match nothing: which ones depends on the ids alone. Default 0. */
  readonly missingPercent?: number;
  /** What stands for an id that matches nothing: `null` in its place, or no element at all. Default `null`. */
  readonly missingAs?: 'null' | 'omitted';
  /** Records in an order drawn by batch and seed, instead of that of the request. */
  readonly shuffled?: boolean;
  /** Share of records, in percent, that stand twice in an answer. Default 0. */
  readonly repeatedPercent?: number;
  /** Draws orders, repeats and delays together with the batch: the same batch is answered alike each time. Default 0. */
  readonly seed?: number;
  /** How many bytes of records to keep for ids that are asked again. Default 64 MiB. */
  readonly cacheBytes?: number;
  /**
   * How many records to prepare. Each id then gets one of them with its own id put in, at a fraction of the cost and in
   * memory that does not grow: for measuring programs that take answers faster than records can be made. Default 0: every
   * id has a record of its own.
   */
  readonly preparedRecords?: number;
}

const head = '{"jsonrpc":"2.0","result":';
/** Seed of the ids whose records are prepared. */
const preparedSeed = 1_000_003;
const comma = Buffer.from(',');
const nullElement = Buffer.from('null');

/** Makes the bodies of answers; it holds no records but those it made before. */
export class GeneratedAnswers {
  private readonly cache = new Map<string, Buffer>();
  private readonly prepared: readonly PreparedRecord[];
  private cachedBytes = 0;
  private readonly options: AnswerOptions;

  constructor(options: AnswerOptions) {
    this.options = options;
    this.prepared = Array.from({ length: options.preparedRecords ?? 0 }, (_, n) => prepare(n));
  }

  /** The answer to `getAssets`. `rpcId` is JSON text. */
  many(ids: readonly string[], rpcId: string): Buffer {
    const pieces: Buffer[] = [Buffer.from(`${head}[`)];
    for (const element of this.elements(ids)) {
      if (pieces.length > 1) pieces.push(comma);
      pieces.push(element);
    }
    pieces.push(Buffer.from(`],"id":${rpcId}}`));
    return Buffer.concat(pieces);
  }

  /** The answer to `getAsset`. `rpcId` is JSON text. */
  one(id: string, rpcId: string): Buffer {
    const record = this.recordOf(id);
    if (record === undefined) return refusal(-32000, 'Database Error: RecordNotFound Error: Asset Not Found', rpcId);
    return Buffer.concat([Buffer.from(head), record, Buffer.from(`,"id":${rpcId}}`)]);
  }

  private elements(ids: readonly string[]): Buffer[] {
    const { missingAs = 'null', shuffled = false, repeatedPercent = 0, seed = 0 } = this.options;
    const elements: Buffer[] = [];
    for (const id of ids) {
      const record = this.recordOf(id) ?? nullElement;
      if (record !== nullElement || missingAs === 'null') elements.push(record);
    }
    if (!shuffled && repeatedPercent === 0) return elements;
    const random = randomOf(`order ${seed} ${ids.join()}`);
    for (const element of [...elements]) if (random.chance(repeatedPercent)) elements.push(element);
    if (!shuffled) return elements;
    const drawn = elements.map((element) => ({ element, place: random.next() }));
    return drawn.sort((a, b) => a.place - b.place).map(({ element }) => element);
  }

  private recordOf(id: string): Buffer | undefined {
    const known = this.cache.get(id);
    if (known !== undefined) return known;
    const { missingPercent = 0, cacheBytes = 64 * 2 ** 20 } = this.options;
    if (isMissing(id, missingPercent)) return undefined;
    const prepared = this.prepared[(seedOf(id)[0] >>> 0) % this.prepared.length];
    if (prepared !== undefined) return Buffer.concat([prepared.head, Buffer.from(id, 'latin1'), prepared.tail]);
    const record = Buffer.from(generatedRecord(id));
    if (this.cachedBytes + record.length <= cacheBytes) {
      this.cache.set(id, record);
      this.cachedBytes += record.length;
    }
    return record;
  }
}

/** A record cut where its id stands. */
interface PreparedRecord {
  readonly head: Buffer;
  readonly tail: Buffer;
}

function prepare(n: number): PreparedRecord {
  const id = generatedId(preparedSeed, n);
  const [head = '', ...tail] = generatedRecord(id).split(id);
  return { head: Buffer.from(head), tail: Buffer.from(tail.join(id)) };
}

/** A JSON-RPC error, which arrives with HTTP 200. */
export function refusal(code: number, message: string, rpcId: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","error":${JSON.stringify({ code, message })},"id":${rpcId}}`);
}
