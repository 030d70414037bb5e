import { IdList } from '../ids/id-list.ts';
import type { AssetClient, AssetFlags, ElementReader, OpenReader } from './asset-client.ts';
import type { SecondAnswer, SecondVerdict, WeighedCall } from './judgement/absence.ts';
import { lookUpBatch } from './look-up-batch.ts';
import { type Lookup, notReturned, type SecondLookups, type Seconds } from './lookups.ts';

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
  readonly flags: AssetFlags;
  readonly reader: OpenReader<Reader> | undefined;
  /** Most ids a call. */
  readonly idsPerCall: number;
}

/** Ids of one call that wait to be requested again. */
interface Waiting<Reader> {
  readonly ids: readonly string[];
  /** What the call showed: no witness for itself. */
  readonly shown: readonly string[];
  readonly part: number;
  readonly resolve: (found: SecondLookups<Reader>) => void;
  readonly reject: (reason: unknown) => void;
}

const mostWitnesses = 16;
/** After so many further answers ids wait for no others. */
const patience = 3;

/**
 * Requests again what answers lacked that are not believed. The ids of several calls share a call, with ids that the service has
 * shown: it leaves when it is full, when three answers later nothing filled it, or when nothing else is under way.
 */
export class SecondAnswers<Reader extends ElementReader = ElementReader> implements Seconds<Reader> {
  readonly #options: SecondAnswersOptions<Reader>;
  #waiting: Waiting<Reader>[] = [];
  #answersSince = 0;
  /** Lookups of batches that are under way. */
  #open = 0;

  constructor(options: SecondAnswersOptions<Reader>) {
    this.#options = options;
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

  async believes(call: WeighedCall): Promise<boolean> {
    this.#answersSince += 1;
    const verdict = await this.#options.desk.judge(call);
    this.#leaveIfDue();
    return verdict === 'believed';
  }

  async lookUp(
    ids: IdList,
    part: number,
    { asked, shown }: Pick<WeighedCall, 'asked' | 'shown'>,
  ): Promise<SecondLookups<Reader>> {
    const found = await new Promise<SecondLookups<Reader>>((resolve, reject) => {
      if (this.#waiting.length === 0) this.#answersSince = 0;
      this.#waiting.push({ ids: [...ids], shown, part, resolve, reject });
      this.#leaveIfDue();
    });
    this.#options.desk.settle({ asked, lacked: found.lookups.filter(({ kind }) => kind === 'missing').length });
    return found;
  }

  #leaveIfDue(): void {
    const ids = this.#waiting.reduce((sum, each) => sum + each.ids.length, 0);
    const isDue =
      ids >= this.#options.idsPerCall - mostWitnesses ||
      this.#answersSince >= patience ||
      this.#waiting.length >= this.#open;
    if (ids === 0 || !isDue) return;
    const group = this.#waiting;
    this.#waiting = [];
    this.#answersSince = 0;
    this.#request(group).catch((error: unknown) => {
      for (const { reject } of group) reject(error);
    });
  }

  async #request(group: readonly Waiting<Reader>[]): Promise<void> {
    const ids = group.flatMap((each) => each.ids);
    const part = Math.max(...group.map((each) => each.part));
    const found = new Map<string, Lookup<Reader>>();
    const releases: (() => void)[] = [];
    const { idsPerCall } = this.#options;
    const most = Math.max(1, idsPerCall - mostWitnesses);
    const shown = new Set(group.flatMap((each) => each.shown));
    for (let at = 0; at < ids.length; at += most)
      releases.push(...(await this.#settle({ ids: ids.slice(at, at + most), shown, part }, found)));
    let holders = group.length;
    for (const { ids: own, resolve } of group)
      resolve({
        lookups: own.map((id) => found.get(id) ?? notReturned),
        release: () => {
          holders -= 1;
          if (holders === 0) for (const release of releases) release();
        },
      });
  }

  /** Requests ids until what they lack is believed. */
  async #settle(
    { ids, shown, part }: { ids: readonly string[]; shown: ReadonlySet<string>; part: number },
    found: Map<string, Lookup<Reader>>,
  ): Promise<(() => void)[]> {
    const { client, desk, flags, reader, idsPerCall } = this.#options;
    const releases: (() => void)[] = [];
    let lacking = ids;
    let round = 0;
    for (let attempt = 1; lacking.length > 0; attempt += 1) {
      const own = new Set(lacking);
      const room = Math.max(0, Math.min(mostWitnesses, idsPerCall - lacking.length));
      const offered = await desk.witnesses(room + own.size + shown.size);
      const witnesses = offered.filter((id) => !own.has(id) && !shown.has(id)).slice(0, room);
      // Another order is another call: the journal keeps the answer to the one before.
      const turn = attempt % lacking.length;
      const order = [...lacking.slice(turn), ...lacking.slice(0, turn), ...witnesses];
      const request = { ids: IdList.of(order), flags, part, singles: false, reader, repeats: true } as const;
      const { lookups, release } = await lookUpBatch(client, request);
      releases.push(release);
      const came: string[] = [];
      for (const [place, id] of order.entries()) {
        const lookup = lookups.at(place);
        if (place >= lacking.length || lookup.kind === 'missing') continue;
        if (lookup.kind === 'found') came.push(id);
        found.set(id, lookup);
      }
      const witnessesCame = witnesses.filter((_, n) => lookups.at(lacking.length + n).kind === 'found').length;
      const verdict = await desk.second({ came, witnesses: witnesses.length, witnessesCame, round: round + 1 });
      if (verdict !== 'stale') round += 1;
      lacking = lacking.filter((id) => !found.has(id));
      if (verdict === 'believed') break;
    }
    return releases;
  }
}
