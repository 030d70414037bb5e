import { keyBytes } from '../../../lib/ids/id-bytes.ts';
import { type Direction, endOfKeys, keyAt, type KeyRange, lastKey, mirrored, mirroredRange } from './keys.ts';
import { Spans } from './spans.ts';
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
  /** The first and the last member; undefined: it had none. */
  readonly found: { readonly first: bigint; readonly last: bigint } | undefined;
}

/** What is left of a range that one walk goes through. */
interface Stretch {
  from: bigint;
  readonly to: bigint;
  startsAtId: boolean;
  request: PageRequest | undefined;
}

/**
 * The walk by places. A page with members settles everything up to its last id; an empty one settles half a span, so the next
 * is asked from there. At the end every step is measured again with all spans, and what became too wide is filled up.
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

  get mostEmpty(): number {
    return this.#tally.mostEmpty;
  }

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
    this.#add(request, page);
    this.#turns(page);
    this.#stretches = [];
  }

  verdict(): ListVerdict {
    const { members, total, isWhole, settlesEmpty } = this.#tally;
    const gaps = this.#gaps();
    if (members === 0) return { proof: 'none', why: 'no members' };
    if (total === members || (!isWhole && settlesEmpty && gaps.length === 0)) return { proof: 'total' };
    if (!this.#spans.isEmpty && this.#direction !== undefined && this.#gaps(false).length === 0)
      return { proof: 'ranges' };
    return isWhole ? { proof: 'expect' } : { proof: 'none', ...this.#whyNot(gaps) };
  }

  #whyNot(gaps: readonly KeyRange[]): Pick<ListVerdict, 'why' | 'restCalls'> {
    if (this.#direction === undefined) return { why: 'no page had two ids, so it is not known which way ids go' };
    if (gaps.length === 0) return { why: 'too few members show how far an empty page reaches' };
    const rest = { restCalls: this.#restCalls(gaps) };
    if (this.#takesIdsOnly) return { why: 'the service takes no place that is not an id', ...rest };
    return { why: `${this.#tally.emptyPages} pages came back empty, which is the limit`, ...rest };
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
    const { members, emptyPages, mostEmpty } = this.#tally;
    if (this.#pages.length === 0) return true;
    if (members === 0 && emptyPages >= emptyWithoutMember) return false;
    return emptyPages + underWay < mostEmpty;
  }

  /** The ranges that are still to be walked: when all are, those that turn out to be unsettled. */
  #open(): Stretch[] {
    this.#stretches ??= [{ from: 0n, to: endOfKeys, startsAtId: false, request: undefined }];
    this.#stretches = this.#stretches.filter(({ from, to, request }) => from < to || request !== undefined);
    if (this.#stretches.length === 0) {
      this.#stretches = this.#gaps().map((gap) => ({ ...gap, request: undefined }));
      this.#cut();
    }
    return this.#stretches;
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
  #add(request: PageRequest, page: AnsweredPage): Answered {
    const { after, before, startsAtId } = request;
    const direction = this.#direction ?? 'rising';
    const keys = { from: after === undefined ? 0n : after + 1n, to: before ?? endOfKeys };
    const answered = { range: mirroredRange(keys, direction), startsAtId, found: foundIn(page, direction) };
    this.#pages.push(answered);
    this.#tally.add(request, page);
    this.#addSpan(answered);
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
    for (const [index, { range, found }] of this.#pages.entries()) {
      const turned: Answered = {
        range: mirroredRange(range, direction),
        startsAtId: false,
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

  /** The ranges that no page settles, with all that is known now. @param byTotal whether the totals count */
  #gaps(byTotal = true): (KeyRange & { readonly startsAtId: boolean })[] {
    if (this.#direction === undefined && this.#pages.length > 0) return [];
    const isEmptySettled = byTotal && this.#tally.settlesEmpty;
    const settled = this.#pages.map(({ range, found }) => {
      if (found !== undefined) return { from: range.from, to: found.last + 1n, endsAtId: true };
      const end = range.from + (this.#step(range.from) * toleratedStep.by) / toleratedStep.of;
      return { from: range.from, to: isEmptySettled || end > range.to ? range.to : end, endsAtId: false };
    });
    settled.sort((one, other) => (one.from < other.from ? -1 : Number(one.from > other.from)));
    const gaps: (KeyRange & { readonly startsAtId: boolean })[] = [];
    let at = 0n;
    let startsAtId = false;
    for (const { from, to, endsAtId } of [...settled, { from: endOfKeys, to: endOfKeys, endsAtId: false }]) {
      if (from > at) gaps.push({ from: at, to: from, startsAtId });
      if (to <= at) continue;
      at = to;
      startsAtId = endsAtId;
    }
    return gaps;
  }
}

/** The first and the last member in the order of the walk. */
function foundIn({ keys }: AnsweredPage, direction: Direction): Answered['found'] {
  if (keys.length === 0) return undefined;
  const least = mirrored(keyAt(keys, 0), direction);
  const most = mirrored(keyAt(keys, keys.length - keyBytes), direction);
  return direction === 'rising' ? { first: least, last: most } : { first: most, last: least };
}
