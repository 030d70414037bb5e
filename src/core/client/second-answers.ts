import { createHash } from 'node:crypto';
import { IdList } from '../ids/id-list.ts';
import type { AssetClient, AssetFlags, ElementReader, OpenReader } from './asset-client.ts';
import type { SecondAnswer, SecondVerdict, WeighedCall } from './judgement/absence.ts';
import { lookUpBatch } from './look-up-batch.ts';
import { type Lookup, notReturned, type SecondLookups, type Seconds } from './lookups.ts';
import type { AnswerJournal } from './policies/with-journal.ts';

/** Weighs absence for a process: here, or for a thread elsewhere. */
export interface AbsenceDesk {
  readonly judge: (call: WeighedCall) => Promise<'believed' | 'again'>;
  readonly witnesses: (room: number) => Promise<readonly string[]>;
  /** Resolves after a pause where the answer is stale. */
  readonly second: (answer: SecondAnswer) => Promise<SecondVerdict>;
  readonly settle: (call: Pick<WeighedCall, 'asked' | 'lacked'>) => void;
}

export interface SecondAnswersOptions<Reader extends ElementReader> {
  readonly client: AssetClient;
  readonly desk: AbsenceDesk;
  /** That of the client: it keeps, too, which ids were requested again together. */
  readonly journal: AnswerJournal;
  readonly flags: AssetFlags;
  readonly reader: OpenReader<Reader> | undefined;
  /** Most ids a call. */
  readonly idsPerCall: number;
}

/** Ids of one call that are requested again, always together. */
interface Piece<Reader> {
  readonly part: number;
  readonly call: WeighedCall;
  lacking: readonly string[];
  /** Second answers that lacked them. */
  round: number;
  /** Shared by the pieces of a call. */
  readonly found: Map<string, Lookup<Reader>>;
  readonly releases: (() => void)[];
}

interface Waiting<Reader> {
  readonly piece: Piece<Reader>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

const mostWitnesses = 16;
/** Of small calls, at most this share of the places is kept for witnesses. */
const witnessShare = 1 / 3;
/** After so many further answers ids wait for no others. */
const patience = 3;

/**
 * Requests again what answers lacked that are not believed. The ids of several calls of a part share a call, with ids that the
 * service has shown: it leaves when it is full, when three answers later nothing filled it, or when nothing else is under way.
 * What was requested together is kept, so that a resumed run requests the same, and its answer is found.
 */
export class SecondAnswers<Reader extends ElementReader = ElementReader> implements Seconds<Reader> {
  readonly #options: SecondAnswersOptions<Reader>;
  /** Most ids of a second request that are no witnesses. */
  readonly #most: number;
  #waiting: Waiting<Reader>[] = [];
  #answersSince = 0;
  /** Lookups of batches that are under way. */
  #open = 0;

  constructor(options: SecondAnswersOptions<Reader>) {
    this.#options = options;
    const { idsPerCall } = options;
    this.#most = Math.max(1, idsPerCall - Math.min(mostWitnesses, Math.floor(witnessShare * idsPerCall)));
  }

  async within<T>(work: () => Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      return await work();
    } finally {
      this.#open -= 1;
      this.#leaveIfDue();
    }
  }

  async settle(ids: IdList, part: number, call: WeighedCall): Promise<SecondLookups<Reader>> {
    const { desk } = this.#options;
    this.#answersSince += 1;
    const first = await desk.judge(call);
    const all = [...ids];
    const [found, releases] = [new Map<string, Lookup<Reader>>(), [] as (() => void)[]];
    const again: Piece<Reader>[] = [];
    for (let at = 0; at < all.length; at += this.#most) {
      const lacking = all.slice(at, at + this.#most);
      const piece: Piece<Reader> = { part, call, lacking, round: 0, found, releases };
      const verdict = (await this.#replay(piece)) ?? first;
      if (verdict !== 'believed' && piece.lacking.length > 0) again.push(piece);
    }
    const settled = again.map((piece) => this.#settled(piece));
    this.#leaveIfDue();
    await Promise.all(settled);
    const lookups = all.map((id) => found.get(id) ?? notReturned);
    if (first === 'again')
      desk.settle({ asked: call.asked, lacked: lookups.filter(({ kind }) => kind === 'missing').length });
    return {
      lookups,
      release: () => {
        for (const release of releases) release();
      },
    };
  }

  #settled(piece: Piece<Reader>): Promise<void> {
    if (this.#waiting.length === 0) this.#answersSince = 0;
    return new Promise((resolve, reject) => this.#waiting.push({ piece, resolve, reject }));
  }

  #leaveIfDue(): void {
    const calls = new Set(this.#waiting.map(({ piece }) => piece.call));
    const isDue = this.#answersSince >= patience || calls.size >= this.#open;
    const groups = packed(this.#waiting, this.#most).filter(({ ids }) => isDue || ids >= this.#most);
    const left = new Set(groups.flatMap(({ waiting }) => waiting));
    this.#waiting = this.#waiting.filter((each) => !left.has(each));
    for (const { waiting } of groups)
      this.#request(waiting.map(({ piece }) => piece)).then(
        () => {
          for (const { resolve } of waiting) resolve();
        },
        (error: unknown) => {
          for (const { reject } of waiting) reject(error);
        },
      );
  }

  /** Requests pieces in one call until what they lack is believed. */
  async #request(pieces: readonly Piece<Reader>[]): Promise<void> {
    const { desk, idsPerCall } = this.#options;
    const shown = shownTo(pieces);
    for (let attempt = 1; ; attempt += 1) {
      const lacking = pieces.flatMap((piece) => piece.lacking);
      const own = new Set(lacking);
      const room = Math.max(0, Math.min(mostWitnesses, idsPerCall - lacking.length));
      const offered = await desk.witnesses(room + own.size + shown.size);
      // Those of other calls first: the backend that lacked these ids may know its own.
      const witnesses = offered
        .filter((id) => !own.has(id))
        .sort((one, other) => Number(shown.has(one)) - Number(shown.has(other)))
        .slice(0, room);
      // A cache takes another order for another call.
      const turn = attempt % lacking.length;
      const ids = [...lacking.slice(turn), ...lacking.slice(0, turn), ...witnesses];
      const verdict = await this.#ask(pieces, { attempt, ids, witnesses: witnesses.length });
      if (verdict === 'believed' || pieces.every((piece) => piece.lacking.length === 0)) return;
    }
  }

  /** Takes second requests of an earlier run, whatever is believed by now. @returns undefined if there is none */
  async #replay(piece: Piece<Reader>): Promise<SecondVerdict | undefined> {
    let verdict: SecondVerdict | undefined;
    while (piece.lacking.length > 0) {
      const kept = await this.#options.journal.find(keyOf(piece), piece.part);
      if (kept === undefined) break;
      const [attempt, witnesses, ...ids] = Buffer.from(kept).toString().split(' ');
      verdict = await this.#ask([piece], { attempt: Number(attempt), ids, witnesses: Number(witnesses) }, true);
    }
    return verdict;
  }

  async #ask(
    pieces: readonly Piece<Reader>[],
    // The last of the ids are witnesses.
    {
      attempt,
      ids,
      witnesses,
    }: { readonly attempt: number; readonly ids: readonly string[]; readonly witnesses: number },
    isKept = false,
  ): Promise<SecondVerdict> {
    const { client, desk, journal, flags, reader, idsPerCall } = this.#options;
    const [{ part, round } = { part: 0, round: 0 }] = pieces;
    const request = { ids: IdList.of(ids), flags, part, singles: false, reader, repeats: true } as const;
    const { lookups, release } = await lookUpBatch(client, { ...request, again: attempt });
    const places = new Map(ids.map((id, place) => [id, place]));
    const came: string[] = [];
    let holders = pieces.length;
    for (const { lacking, found, releases } of pieces) {
      releases.push(() => {
        holders -= 1;
        if (holders === 0) release();
      });
      for (const id of lacking) {
        const lookup = lookups.at(places.get(id) ?? -1);
        if (lookup.kind === 'missing') continue;
        if (lookup.kind === 'found') came.push(id);
        found.set(id, lookup);
      }
    }
    const asked = ids.slice(ids.length - witnesses);
    const witnessesCame = asked.filter((id) => lookups.at(places.get(id) ?? -1).kind === 'found').length;
    const shown = shownTo(pieces);
    const others = asked.filter((id) => !shown.has(id)).length;
    let verdict = await desk.second({ came, witnesses, witnessesCame, others, round: round + 1 });
    // It left before there were witnesses, which would have shown whether it lies.
    const isBlind = witnesses === 0 && ids.length < idsPerCall;
    if (verdict === 'believed' && isBlind && (await desk.witnesses(ids.length + 1)).some((id) => !places.has(id)))
      verdict = 'again';
    for (const piece of pieces) {
      // A stale answer settles nothing. A kept request leads to the next one.
      if (verdict !== 'stale' && !isKept)
        await journal.append({ key: keyOf(piece), part, body: Buffer.from([attempt, witnesses, ...ids].join(' ')) });
      if (verdict !== 'stale' || isKept) piece.round += 1;
      piece.lacking = piece.lacking.filter((id) => !piece.found.has(id));
    }
    return verdict;
  }
}

/** What the calls showed that lacked the ids of pieces. */
function shownTo(pieces: readonly Piece<unknown>[]): ReadonlySet<string> {
  return new Set(pieces.flatMap(({ call }) => call.shown));
}

/** Names, in the journal, the second request of ids that so many second answers lacked. */
function keyOf({ lacking, round }: Pick<Piece<unknown>, 'lacking' | 'round'>): string {
  return createHash('sha256')
    .update(`again ${round} ${lacking.join(' ')}`)
    .digest('hex');
}

/** Puts pieces of one part, and of one round, into calls of at most so many ids: each into the first that has room. */
function packed<Reader>(all: readonly Waiting<Reader>[], most: number) {
  const groups: { readonly waiting: Waiting<Reader>[]; ids: number }[] = [];
  for (const each of all) {
    const { part, round, lacking } = each.piece;
    const hasRoom = ({ waiting: [first], ids }: (typeof groups)[number]): boolean =>
      first?.piece.part === part && first.piece.round === round && ids + lacking.length <= most;
    const group = groups.find(hasRoom);
    if (group === undefined) groups.push({ waiting: [each], ids: lacking.length });
    else {
      group.waiting.push(each);
      group.ids += lacking.length;
    }
  }
  return groups;
}
