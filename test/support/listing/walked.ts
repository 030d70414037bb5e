import type { PageRequest, ListVerdict, Walk } from '../../../src/wings/listing/walk/walk.ts';
import { seeded, type SimulatedIndex } from './simulated-index.ts';

export interface Walked {
  readonly verdict: ListVerdict;
  readonly pages: number;
  readonly totals: number;
  readonly found: ReadonlySet<bigint>;
  /** Members of the index that were not found. */
  readonly lost: number;
}

/** Walks through an index; pages under way are answered in an order by chance. @param total what the service counts */
export function walked(walk: Walk, index: SimulatedIndex, total?: () => number, seed = 1): Walked {
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
        walk.totalled(total?.() ?? 0);
      }
    }
    const [request] = underWay.splice(Math.floor(random() * underWay.length), 1);
    if (request === undefined) continue;
    pages += 1;
    const page = index.page(request);
    const view = new DataView(page.keys.buffer, page.keys.byteOffset);
    for (let at = 0; at < page.keys.length; at += 32) found.add(view.getBigUint64(at));
    walk.answered(request, request.withTotal && total !== undefined ? { ...page, total: total() } : page);
  }
  let lost = 0;
  for (const key of index.members) if (!found.has(key)) lost += 1;
  return { verdict: walk.verdict(), pages, totals, found, lost };
}
