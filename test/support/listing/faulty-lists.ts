import { keyAt } from '../../../src/wings/listing/walk/keys.ts';
import type { AnsweredPage, PageRequest } from '../../../src/wings/listing/walk/walk.ts';
import { seeded } from './simulated-index.ts';

/** What a service does wrong with the second page of a list, or with all of it. */
export interface ListFault {
  readonly page?: 'empty' | 'half' | 'repeat' | 'circle' | 'lostToken';
  /** `once`: the second page is right when it is requested again. */
  readonly how?: 'once' | 'always';
  /** Members a page, where fewer are given than were requested. */
  readonly cut?: number;
  /** The total, as a share of the truth; undefined: none is given. */
  readonly total?: number;
  readonly totalOff?: number;
  /** One member leaves the first page when it was read, and one comes at the end. */
  readonly moves?: boolean;
  /** The share of rows that are dropped behind the limit. The total counts them. */
  readonly dropped?: number;
}

interface Row {
  readonly key: bigint;
  readonly isDropped: boolean;
}

/** Members a page, as they are requested. */
export const faultyLimit = 100;

/** A service with a list of rows, whose pages go by tokens, numbers or places. */
export class FaultyLists {
  readonly #fault: ListFault;
  #rows: Row[];
  readonly #coming: Row[];
  readonly #began: ReadonlySet<bigint>;
  #spoilt = 0;
  calls = 0;

  constructor(rows: number, fault: ListFault, seed: number) {
    const random = seeded(seed);
    this.#fault = fault;
    const made = Array.from({ length: rows + 1 }, () => ({
      key: BigInt(Math.floor(random() * 2 ** 53)) << 203n,
      isDropped: random() < (fault.dropped ?? 0),
    })).sort((one, other) => (one.key < other.key ? -1 : 1));
    this.#rows = made.slice(0, rows);
    this.#coming = made.slice(rows);
    this.#began = this.visible();
  }

  /** Members that the service shows, sooner or later. */
  visible(): Set<bigint> {
    const isHidden = this.#fault.how === 'always' && (this.#fault.page === 'empty' || this.#fault.page === 'half');
    const size = Math.min(faultyLimit, this.#fault.cut ?? faultyLimit);
    const [from, to] = isHidden ? [this.#fault.page === 'half' ? size + size / 2 : size, 2 * size] : [0, 0];
    return new Set(
      this.#rows.filter(({ isDropped }, at) => !isDropped && (at < from || at >= to)).map(({ key }) => key),
    );
  }

  /** Members from the first call to the last. */
  stable(): Set<bigint> {
    const now = this.visible();
    return new Set([...this.#began].filter((key) => now.has(key)));
  }

  /** Rows that are never shown. */
  get hidden(): number {
    return this.#rows.length - this.visible().size;
  }

  total(): number | undefined {
    this.calls += 1;
    const { total, totalOff = 0 } = this.#fault;
    return total === undefined ? undefined : Math.max(0, Math.round(this.#rows.length * total) + totalOff);
  }

  page(request: PageRequest): AnsweredPage {
    this.calls += 1;
    const { cut = faultyLimit, moves = false, page: kind, how } = this.#fault;
    const size = Math.min(request.limit ?? faultyLimit, cut);
    const isCursor = request.number === undefined && request.after === undefined && request.before === undefined;
    let from = request.number !== undefined ? (request.number - 1) * size : isCursor ? this.#behind(request.cursor) : 0;
    if (!isCursor && request.number === undefined)
      from = this.#rows.filter(({ key }) => key <= (request.after ?? -1n)).length;
    const isSecond = from === size && request.limit === undefined;
    const isSpoilt = kind !== undefined && isSecond && (how === 'always' || this.#spoilt === 0);
    if (isSpoilt) this.#spoilt += 1;
    const isCircle = kind === 'circle' && (how === 'always' || this.#spoilt <= 1);
    if (isCircle && request.number !== undefined && request.limit === undefined)
      from = ((request.number - 1) % 2) * size;
    let rows = this.#rows
      .slice(from, from + size)
      .filter(({ key }) => request.before === undefined || key < request.before);
    const last = rows.at(-1);
    if (isSpoilt && kind === 'repeat') rows = this.#rows.slice(0, rows.length);
    if (isSpoilt && kind === 'empty') rows = [];
    if (isSpoilt && kind === 'half') rows = rows.slice(0, size / 2);
    const shown = rows.filter(({ isDropped }) => !isDropped);
    const keys = new Uint8Array(32 * shown.length);
    for (const [at, { key }] of shown.entries()) new DataView(keys.buffer).setBigUint64(32 * at, key >> 192n);
    const lastIndex = last === undefined ? this.#rows.length : this.#rows.indexOf(last);
    const hasNext = lastIndex + 1 < this.#rows.length;
    let cursor = hasNext && last !== undefined ? String(last.key) : undefined;
    if (isSpoilt && kind === 'lostToken') cursor = undefined;
    if (isSpoilt && kind === 'circle') cursor = String(this.#rows[size - 1]?.key ?? 0n);
    if (moves && from === 0 && this.#coming.length > 0)
      this.#rows = [...this.#rows.slice(1), ...this.#coming.splice(0)];
    return {
      keys,
      direction: shown.length > 1 ? 'rising' : undefined,
      inErrors: 0,
      last: shown.length === 0 ? undefined : keyAt(keys, keys.length - 32),
      cursor: isCursor ? cursor : undefined,
      total: request.withTotal ? this.total() : undefined,
    };
  }

  #behind(cursor: string | undefined): number {
    return cursor === undefined ? 0 : this.#rows.filter(({ key }) => key <= BigInt(cursor)).length;
  }
}
