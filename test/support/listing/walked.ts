import type { AnsweredPage, ListVerdict, PageRequest, Walk } from '../../../src/wings/listing/walk/walk.ts';
import { seeded, type SimulatedIndex } from './simulated-index.ts';

export interface Walked {
  readonly verdict: ListVerdict;
  readonly pages: number;
  readonly totals: number;
  /** The first 64 bits of each id. */
  readonly found: ReadonlySet<bigint>;
}

/** What answers the requests of a walk. */
export interface WalkedLists {
  page(request: PageRequest): AnsweredPage | Promise<AnsweredPage>;
  total(): number | Promise<number>;
}

/** Walks through lists; pages under way are answered in an order by chance. */
export async function walked(walk: Walk, lists: WalkedLists, seed: number): Promise<Walked> {
  const random = seeded(seed);
  const underWay: PageRequest[] = [];
  const found = new Set<bigint>();
  let pages = 0;
  let totals = 0;
  for (;;) {
    const requests = walk.next();
    if (requests.length === 0 && underWay.length === 0) break;
    for (const request of requests) {
      if (request.kind === 'page') underWay.push(request);
      else {
        totals += 1;
        walk.totalled(await lists.total());
      }
    }
    const [request] = underWay.splice(Math.floor(random() * underWay.length), 1);
    if (request === undefined) continue;
    pages += 1;
    const page = await lists.page(request);
    const view = new DataView(page.keys.buffer, page.keys.byteOffset);
    for (let at = 0; at < page.keys.length; at += 32) found.add(view.getBigUint64(at));
    walk.answered(request, page);
  }
  return { verdict: walk.verdict(), pages, totals, found };
}

/** The same through an index, with the number of its members that were not found. @param total what the service counts */
export async function walkedIndex(
  walk: Walk,
  index: SimulatedIndex,
  total = () => 0,
  seed = 1,
): Promise<Walked & { readonly lost: number }> {
  const page = (request: PageRequest): AnsweredPage => {
    const answered = index.page(request);
    return request.withTotal ? { ...answered, total: total() } : answered;
  };
  const walkedLists = await walked(walk, { page, total }, seed);
  let lost = 0;
  for (const key of index.members) if (!walkedLists.found.has(key)) lost += 1;
  return { ...walkedLists, lost };
}
