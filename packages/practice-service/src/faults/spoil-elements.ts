import { isAssetId, idOfBytes } from '../../../../src/lib/ids/asset-id.ts';
import type { AssetQuery } from '../asset-query.ts';
import type { ActiveFault } from './fault-plan.ts';
import type { FaultOf } from './fault-schema.ts';
import { cutsOf, membersOf, skipBlanks } from '../store/json-members.ts';
import type { ErrorObject } from '../json-rpc.ts';
import { shuffle } from './seeded-draw.ts';

/** Elements of a result as JSON text; null where an id matched nothing. */
export type Elements = readonly (Buffer | null)[];

/** True when the fault makes the service forget this asset. */
export function isForgotten({ fault, draw, drawForBatch }: ActiveFault, id: string, unverified: boolean): boolean {
  if (fault.fault !== 'missing') return false;
  if (fault.ids?.includes(id) === true || (fault.unverified && unverified)) return true;
  if (fault.share === undefined) return false;
  return (fault.forgetful ? draw() : drawForBatch(id)()) < fault.share;
}

/** What a fault makes of the result of `getAssets`. */
export function spoilElements(active: ActiveFault, elements: Elements, query: AssetQuery): Elements | ErrorObject {
  const { fault, draw } = active;
  switch (fault.fault) {
    case 'unproven':
      return elements.map((element) => (element === null ? null : unproven(element, fault, active)));
    case 'missing':
      return elements.includes(null) ? markMissing(fault, elements, query) : elements;
    case 'shuffled':
      return shuffle(elements, draw);
    case 'dropRepeats':
      // As a query of sorted neighbours does it: only repeats that stand side by side.
      return elements.filter((_, index) => index === 0 || query.ids[index] !== query.ids[index - 1]);
    case 'repeated':
      return elements.flatMap((element) => (draw() < fault.share ? [element, element] : [element]));
    case 'foreign':
      return insert(elements, foreignRecords(fault, { elements, query, draw }), draw);
    case 'idless':
      return addIdless(fault, elements, draw);
    default:
      return elements;
  }
}

/** A compressed asset with an owner that its leaf does not have. */
function unproven(element: Buffer, { ids = [], share }: FaultOf<'unproven'>, { drawForBatch }: ActiveFault): Buffer {
  const text = element.toString();
  const id = /"id":"(\w+)"/.exec(text)?.[1] ?? '';
  const draw = drawForBatch(id);
  if (!text.includes('"compressed":true') || !(ids.includes(id) || draw() < share)) return element;
  return Buffer.from(text.replace(/"owner":"[^"]*"/, `"owner":"${drawnId(draw)}"`));
}

/** How one provider words that an id of a call matches nothing. */
export const batchNotFound: ErrorObject = {
  code: -32004,
  message: 'One or more assets in the batch were not found.',
};

function markMissing({ as }: FaultOf<'missing'>, elements: Elements, { ids }: AssetQuery): Elements | ErrorObject {
  if (as === 'error') return batchNotFound;
  if (as === 'omitted') return elements.filter((element) => element !== null);
  if (as === 'entry') return elements.map((element, place) => element ?? notFoundEntry(ids[place] ?? ''));
  return as === 'object' ? elements.map((element) => element ?? Buffer.from('{}')) : elements;
}

function notFoundEntry(id: string): Buffer {
  return Buffer.from(JSON.stringify({ id, error: { code: -32004, message: 'Asset not found' } }));
}

/** Records that were not requested: copies from the result with an id that is not in the call. */
function foreignRecords(
  { count, ids }: FaultOf<'foreign'>,
  { elements, query, draw }: { elements: Elements; query: AssetQuery; draw: () => number },
): Buffer[] {
  const model = elements.find((element) => element !== null) ?? Buffer.from(`{"id":"${query.ids[0] ?? ''}"}`);
  const asked = (JSON.parse(model.toString()) as { id: string }).id;
  return Array.from({ length: count }, (_, index) => {
    const id = ids?.[index % ids.length] ?? drawnId(draw);
    return Buffer.from(model.toString().replace(JSON.stringify(asked), () => JSON.stringify(id)));
  });
}

function drawnId(draw: () => number): string {
  const id = idOfBytes(Buffer.from(Array.from({ length: 32 }, () => Math.floor(draw() * 256))));
  return isAssetId(id) ? id : drawnId(draw);
}

function addIdless({ count, instead }: FaultOf<'idless'>, elements: Elements, draw: () => number): Elements {
  const records = shuffle(
    elements.flatMap((element, index) => (element === null ? [] : [{ element, index }])),
    draw,
  ).slice(0, count);
  if (!instead)
    return insert(
      elements,
      records.map(({ element }) => withoutId(element)),
      draw,
    );
  const places = new Map(records.map(({ element, index }) => [index, withoutId(element)]));
  return elements.map((element, index) => places.get(index) ?? element);
}

function withoutId(record: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const cut of cutsOf(membersOf(record, skipBlanks(record, 0)), ({ key }) => key === 'id')) {
    pieces.push(record.subarray(from, cut.start));
    from = cut.end;
  }
  return Buffer.concat([...pieces, record.subarray(from)]);
}

function insert(elements: Elements, more: readonly Buffer[], draw: () => number): Elements {
  const result = [...elements];
  for (const element of more) result.splice(Math.floor(draw() * (result.length + 1)), 0, element);
  return result;
}
