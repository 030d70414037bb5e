import type { AnswerBytes } from '../answer-bytes.ts';
import type { AssetStore } from '../store/asset-store.ts';
import { appendRecord } from '../store/stored-record.ts';
import type { ShownPage } from './list-pages.ts';
import type { PageQuery } from './list-query.ts';

/** As the reference words it. */
const notShown = 'Database Error: Custom Error: Asset Data Not Found';

/** Appends the result of a list method. */
export function appendPage(
  out: AnswerBytes,
  { page, query, store }: { readonly page: ShownPage; readonly query: PageQuery; readonly store: AssetStore },
): void {
  const { ids, errors, total, token } = page;
  const { method, address, limit, place, show } = query;
  if (method === 'getGrouping') {
    out.text(`{"group_key":"collection","group_name":${JSON.stringify(address)},"group_size":${total}}`);
    return;
  }
  out.text(`{"total":${ids.length + errors.length},"limit":${limit}`);
  out.text(`${place.page === undefined ? '' : `,"page":${place.page}`},"items":[`);
  for (const [index, id] of ids.entries()) {
    if (index > 0) out.text(',');
    const record = store.get(id);
    if (record === undefined) throw new Error(`the store lost the record of ${id}`);
    appendRecord(out, record, show);
  }
  out.text(']');
  if (errors.length > 0) out.text(`,"errors":${JSON.stringify(errors.map((id) => ({ id, error: notShown })))}`);
  if (token !== undefined) out.text(`,"cursor":${JSON.stringify(token)}`);
  out.text(`${total === undefined ? '' : `,"grand_total":${total}`}}`);
}
