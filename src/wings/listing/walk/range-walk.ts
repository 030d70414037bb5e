import { keyBytes } from '../../../lib/ids/asset-id.ts';
import { type Direction, endOfKeys, keyAt, type KeyRange, lastKey, mirrored, mirroredRange } from './keys.ts';
import { Spans } from './spans.ts';
import { verdictOf } from './verdict-of.ts';
import { emptyWithoutMember, WalkTally } from './walk-tally.ts';
import type { AnsweredPage, ListRequest, PageRequest, ListVerdict, Walk, WalkCounts, WalkOptions } from './walk.ts';

/** While no span is known a step is this part of the key space, and while no direction is, a window. */
const firstStep = lastKey / 16n;
const firstWindow = endOfKeys / 16n;
/** So many pages with members come one after another before the rest is cut into ranges. */
const pagesBeforeCut = 8;
/** A range is at least so many spans wide. */
const spansPerRange = 8n;

/**
 * A step is filled up if it is wider than this part of what it should be by now. Spans of neighbours differ by a few percent, and
 * each sliver would be a call; a step of 9/16 of a span holds 562 of 1,000 rows, and more than 1,000 by a chance of 10^-60.
 */
const toleratedStep = { by: 9n, of: 8n };

/** An answered page, in the order of the walk. */
interface Answered {
  /** What it was asked for. */
  readonly range: KeyRange;
  /** Its range begins behind a member. */
  readonly startsAtId: boolean;
  readonly members: number;
  /** The first and the last member; undefined: it had none. */
  readonly found: { readonly first: bigint; readonly last: bigint } | undefined;
}

/** What is left of a range that one walk goes through. */
interface Stretch {
  from: bigint;
  readonly to: bigint;
  startsAtId: boolean;
  /** A page that is requested again: what is behind it is settled. */
  readonly once?: boolean;
  request: PageRequest | undefined;
}

/**
 * The walk by places. A page with members settles everything up to its last id; an empty one settles half a span, so the next
 * is asked from there. At the end every step is measured again with all spans, and what became too wide is filled up. An empty
 * page that members follow, and a short one under a total that says more, settle nothing until a second answer agrees.
 *
 * Ranges are in the order of the walk: of a service whose ids fall, keys are mirrored.
 */
export class RangeWalk implements Walk {
  readonly #options: WalkOptions;
  readonly #tally: WalkTally;
  readonly #pages: Answered[] = [];
  #spans = new Spans();
  #direction: Direction | undefined;
  /** Undefined before the first request. */
  #stretches: Stretch[] | undefined;
  #isCut = false;
  #isTotalUnderWay = false;
  /** The service takes ids alone as places: no step can be made. */
  #takesIdsOnly = false;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#tally = new WalkTally(options);
    this.#direction = options.direction;
  }

  get counts(): WalkCounts {
    return this.#tally;
  }

  get planned(): number {
    return this.#tally.planned;
  }

  get mostEmpty(): number {
    return this.#tally.mostEmpty;
  }

  /** Every page begins behind the one before: places lead on. */
  readonly circle = undefined;

  next(): readonly ListRequest[] {
    if (this.#isTotalUnderWay) return [];
    if (this.#options.total === 'alone' && this.#tally.lacksTotal) return this.#askTotal();
    const open = this.#open();
    const requests: PageRequest[] = [];
    let underWay = open.filter(({ request }) => request !== undefined).length;
    for (const stretch of open) {
      if (stretch.request !== undefined || underWay >= this.#options.concurrency || !this.#mayAsk(underWay)) continue;
      if (this.#takesIdsOnly && !stretch.startsAtId && stretch.from > 0n) continue;
      stretch.request = this.#requestOf(stretch);
      requests.push(stretch.request);
      underWay += 1;
    }
    return underWay === 0 && this.#tally.lacksLastTotal ? this.#askTotal() : requests;
  }

  answered(request: PageRequest, page: AnsweredPage): void {
    const stretch = this.#stretches?.find((each) => each.request === request);
    if (stretch === undefined) return;
    stretch.request = undefined;
    const answered = this.#add(request, page);
    if (!this.#turns(page)) this.#advance(stretch, answered);
    this.#cut();
  }

  totalled(total: number | undefined): void {
    this.#isTotalUnderWay = false;
    this.#tally.addTotal(total);
  }

  resumeTotal(total: number): void {
    this.#tally.addTotal(total);
  }

  refused(request: PageRequest): void {
    this.#takesIdsOnly = true;
    const open = this.#stretches ?? [];
    const first = open.find((each) => each.from < each.to);
    for (const each of open) if (each.request === request) each.request = undefined;
    // Ranges that were cut begin and end between ids: they are one again.
    if (this.#isCut && first !== undefined) this.#stretches = [{ ...first, to: endOfKeys, request: undefined }];
  }

  resume(request: PageRequest, page: AnsweredPage): void {
    this.#add(request, page, this.#options.hadOtherLimit !== true);
    this.#turns(page);
    this.#stretches = [];
  }

  verdict(): ListVerdict {
    const { members, totals, isWhole, settlesEmpty } = this.#tally;
    const gaps = this.#gaps();
    const facts = { members, totals, expect: this.#options.expect, dropped: this.#dropped(), repeats: 0 };
    const otherwise = this.#whyNot(gaps);
    if (!isWhole && settlesEmpty && gaps.length === 0) return verdictOf({ ...facts, shown: 'total', otherwise });
    const isByRanges =
      !this.#spans.isEmpty && this.#direction !== undefined && this.#gaps({ byTotal: false }).length === 0;
    return verdictOf({ ...facts, shown: isByRanges ? 'ranges' : undefined, otherwise });
  }

  #whyNot(gaps: readonly KeyRange[]): Pick<ListVerdict, 'why' | 'restCalls'> {
    if (this.#direction === undefined) return { why: 'no page had two ids, so it is not known which way ids go' };
    if (gaps.length === 0) return { why: 'too few members show how far an empty page reaches' };
    const rest = { restCalls: this.#restCalls(gaps) };
    if (this.#takesIdsOnly) return { why: 'the service takes no place that is not an id', ...rest };
    const { askedAgain, emptyPages } = this.#tally;
    const again = askedAgain === 0 ? '' : ` and ${askedAgain} were requested again`;
    return { why: `${emptyPages} pages came back empty${again}, which is the limit`, ...rest };
  }

  /** Rows that pages lacked: a page that is requested again ends at the same member. */
  #dropped(): number {
    const most = new Map<bigint, number>();
    let dropped = 0;
    const last = this.#lastMember;
    for (const { range, found, members } of this.#pages)
      if (found !== undefined) most.set(found.last, Math.max(members, most.get(found.last) ?? 0));
      else if (range.from < last) dropped += this.#options.limit;
    for (const members of most.values()) dropped += Math.max(0, this.#options.limit - members);
    return dropped;
  }

  get #lastMember(): bigint {
    return this.#pages.reduce((most, { found }) => (found !== undefined && found.last > most ? found.last : most), -1n);
  }

  #restCalls(gaps: readonly KeyRange[]): number {
    let calls = 0n;
    for (const { from, to } of gaps) calls += (to - from) / this.#step(from) + 1n;
    return Number(calls);
  }

  #askTotal(): readonly ListRequest[] {
    this.#isTotalUnderWay = true;
    return [{ kind: 'total' }];
  }

  /** Whether one more page may come back empty. */
  #mayAsk(underWay: number): boolean {
    const { members, emptyPages } = this.#tally;
    if (this.#pages.length === 0) return true;
    if (members === 0 && emptyPages >= emptyWithoutMember) return false;
    return this.#tally.mayProve(underWay);
  }

  /** The ranges that are still to be walked: when all are, those that turn out to be unsettled. */
  #open(): Stretch[] {
    this.#stretches ??= [{ from: 0n, to: endOfKeys, startsAtId: false, request: undefined }];
    this.#stretches = this.#stretches.filter(({ from, to, request }) => from < to || request !== undefined);
    if (this.#stretches.length === 0) {
      const unread = this.#gaps({ isDoubting: false });
      this.#stretches = (unread.length > 0 ? unread : this.#gaps()).map((gap) => this.#stretchOf(gap));
      this.#cut();
    }
    return this.#stretches;
  }

  /** What begins where a page begins is that page, which is requested once more. */
  #stretchOf(gap: KeyRange & { readonly startsAtId: boolean }): Stretch {
    const page = this.#pages.find(({ range }) => range.from === gap.from);
    return page === undefined
      ? { ...gap, request: undefined }
      : { ...page.range, startsAtId: page.startsAtId, once: true, request: undefined };
  }

  #requestOf({ from, to: last, startsAtId }: Stretch): PageRequest {
    const direction = this.#direction ?? 'rising';
    const to = this.#isBlind && this.#pages.length > 0 ? from + firstWindow : last;
    const start = from === 0n ? undefined : mirrored(from - 1n, direction);
    const end = to === endOfKeys ? undefined : mirrored(to, direction);
    return {
      kind: 'page',
      after: direction === 'rising' ? start : end,
      before: direction === 'rising' ? end : start,
      startsAtId,
      direction: this.#direction,
      withTotal: this.#options.total === 'withPage' && this.#tally.lacksTotal,
    };
  }

  /** Takes a page into account, whatever asked for it. */
  #add(request: PageRequest, page: AnsweredPage, hasSpan = true): Answered {
    const { after, before, startsAtId } = request;
    const direction = this.#direction ?? 'rising';
    const keys = { from: after === undefined ? 0n : after + 1n, to: before ?? endOfKeys };
    const answered = { range: mirroredRange(keys, direction), startsAtId, ...foundIn(page, direction) };
    this.#pages.push(answered);
    const { times } = this.#tally.add(request, page);
    if (hasSpan && times === 1) this.#addSpan(answered);
    return answered;
  }

  #addSpan({ range, startsAtId, found }: Answered): void {
    if (found !== undefined) this.#spans.add({ from: startsAtId ? range.from : found.first, to: found.last });
  }

  /**
   * It is not known which way ids go, so a page of a single member settles nothing. The key space is asked for in windows: without
   * an end, pages of falling ids would begin at the same end again.
   */
  get #isBlind(): boolean {
    return this.#direction === undefined && !this.#tally.isWhole;
  }

  #advance(stretch: Stretch, { range, found }: Answered): void {
    if (this.#isBlind) {
      stretch.from = range.to === endOfKeys && range.from === 0n ? 0n : range.to;
      return;
    }
    if (stretch.once === true) {
      stretch.from = stretch.to;
      return;
    }
    stretch.from = found === undefined ? this.#behindEmpty(range) : found.last + 1n;
    stretch.startsAtId = found !== undefined;
  }

  /** Where a page without members stops settling. */
  #behindEmpty({ from, to }: KeyRange): bigint {
    const end = from + this.#step(from);
    return this.#tally.settlesEmpty || end > to ? to : end;
  }

  #step(place: bigint): bigint {
    const span = this.#spans.near(place);
    return span === undefined ? firstStep : span / 2n + 1n;
  }

  /** The first page of two ids shows which way they go. If they fall, what was answered before is seen in the other order. */
  #turns({ direction }: AnsweredPage): boolean {
    if (direction === undefined || this.#direction !== undefined) return false;
    this.#direction = direction;
    this.#stretches = [];
    if (direction === 'rising') return true;
    this.#spans = new Spans();
    for (const [index, { range, found, members }] of this.#pages.entries()) {
      const turned: Answered = {
        range: mirroredRange(range, direction),
        startsAtId: false,
        members,
        found: found && { first: mirrored(found.last, direction), last: mirrored(found.first, direction) },
      };
      this.#pages[index] = turned;
      this.#addSpan(turned);
    }
    return true;
  }

  /** Cuts the rest of the key space, once it is known how far pages reach. */
  #cut(): void {
    const { concurrency } = this.#options;
    const open = this.#stretches ?? [];
    const rest = open[0];
    if (this.#isCut || concurrency === 1 || this.#takesIdsOnly || rest === undefined || open.length > 1) return;
    if (rest.once === true) return;
    if (this.#tally.pages < pagesBeforeCut || this.#direction === undefined || rest.request !== undefined) return;
    this.#isCut = true;
    const least = spansPerRange * 2n * this.#step(rest.from);
    const ranges = (rest.to - rest.from) / least;
    const count = ranges < BigInt(concurrency) ? ranges : BigInt(concurrency);
    if (count < 2n) return;
    const width = (rest.to - rest.from) / count;
    this.#stretches = Array.from({ length: Number(count) }, (_, index) => ({
      from: rest.from + width * BigInt(index),
      to: index + 1 === Number(count) ? rest.to : rest.from + width * BigInt(index + 1),
      startsAtId: index === 0 && rest.startsAtId,
      request: undefined,
    }));
  }

  /**
   * The ranges that no page settles, with all that is known now.
   * @param byTotal whether the totals count
   * @param isDoubting whether a total that says more is doubt enough to request pages again
   */
  #gaps({ byTotal = true, isDoubting = true } = {}): (KeyRange & { readonly startsAtId: boolean })[] {
    if (this.#direction === undefined && this.#pages.length > 0) return [];
    const { isWhole, settlesEmpty, lacking } = this.#tally;
    const { limit } = this.#options;
    const last = this.#lastMember;
    const covers = this.#pages.flatMap(({ range: { from, to }, found, members }): Cover[] => {
      const lacks = isDoubting && lacking > 0;
      const isDoubted = !isWhole && (found === undefined ? from < last || lacks : lacks && members < limit);
      const answers = isDoubted ? 1 : 2;
      if (found !== undefined) return [{ from, to: found.last + 1n, isNear: true, answers, hasMembers: true }];
      const step = this.#step(from);
      const end = from + (step * toleratedStep.by) / toleratedStep.of;
      const near = (byTotal && settlesEmpty) || end > to ? to : end;
      const far = from + 2n * step;
      return [
        { from, to: near, isNear: true, answers, hasMembers: false },
        { from: near, to: far > to ? to : far, isNear: false, answers: 1, hasMembers: false },
      ];
    });
    const ends = new Set(this.#pages.map(({ found }) => (found === undefined ? undefined : found.last + 1n)));
    return uncovered(covers).map((gap) => ({ ...gap, startsAtId: ends.has(gap.from) }));
  }
}

/** The first and the last member in the order of the walk. */
function foundIn({ keys }: AnsweredPage, direction: Direction): Pick<Answered, 'found' | 'members'> {
  const members = keys.length / keyBytes;
  if (members === 0) return { members, found: undefined };
  const least = mirrored(keyAt(keys, 0), direction);
  const most = mirrored(keyAt(keys, keys.length - keyBytes), direction);
  const found = direction === 'rising' ? { first: least, last: most } : { first: most, last: least };
  return { members, found };
}

/** What an answer says of a range of keys. */
interface Cover extends KeyRange {
  /** It is near enough to where the page begins to be settled by it. What is farther away can only agree. */
  readonly isNear: boolean;
  /** How many answers it is worth. */
  readonly answers: number;
  /** It has members: what is not settled of it is a gap of its own. */
  readonly hasMembers: boolean;
}

/** So many answers settle a range. */
const enough = 2;

/** The ranges of all keys for which the answers are not enough, in order. */
function uncovered(covers: readonly Cover[]): KeyRange[] {
  const edges = covers
    .filter(({ from, to }) => from < to)
    .flatMap(({ from, to, isNear, answers, hasMembers }) => [
      { at: from, near: Number(isNear), answers, splits: hasMembers },
      { at: to, near: -Number(isNear), answers: -answers, splits: false },
    ])
    .sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  const gaps: KeyRange[] = [];
  const sums = { near: 0, answers: 0 };
  let splits = false;
  let from: bigint | undefined = 0n;
  for (const [index, { at, near, answers, ...edge }] of edges.entries()) {
    sums.near += near;
    sums.answers += answers;
    splits ||= edge.splits;
    if (edges[index + 1]?.at === at) continue;
    const isSettled = sums.near > 0 && sums.answers >= enough;
    if ((isSettled || splits) && from !== undefined && from < at) {
      gaps.push({ from, to: at });
      from = undefined;
    }
    from = isSettled ? undefined : (from ?? at);
    splits = false;
  }
  if (from !== undefined && from < endOfKeys) gaps.push({ from, to: endOfKeys });
  return gaps;
}
