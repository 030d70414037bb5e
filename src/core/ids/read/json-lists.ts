import { plural } from '../../../lib/format-text.ts';
import { closingQuote } from '../../../lib/scan/json-scanner.ts';
import { closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } from '../../../lib/ascii.ts';
import { shellWord } from '../../../lib/addresses/shown-text.ts';
import { isAssetId } from '../../../lib/ids/asset-id.ts';
import { headBytes } from './list-form.ts';
import { rankOfName } from './id-columns.ts';
import { listTodo } from './input-bytes.ts';

/** A place in JSON where ids stand. */
export interface IdPlace {
  /** What leads to it: names of members, `*` for members of one shape, and `[]` for the elements of an array; `keys` at the end for the names themselves. */
  readonly path: readonly Step[];
  /** Ids that stand there. */
  ids: number;
}

type Step = { readonly name: string } | '*' | '[]' | 'keys';

/** Deeper values are left out. */
const mostSteps = 20;

/**
 * The places of ids below the beginning of JSON, which may be cut anywhere. Values of the outermost objects, and elements of
 * the outermost array, are no places: these are read.
 */
export function listsIn(head: Uint8Array): IdPlace[] {
  const places = new Map<string, IdPlace>();
  const steps: (Step | undefined)[] = [];
  let isName = false;
  const found = (path: readonly Step[]): void => {
    const key = JSON.stringify(path);
    const place = places.get(key) ?? { path, ids: 0 };
    place.ids += 1;
    places.set(key, place);
  };
  const path = (): Step[] => steps.filter((step) => step !== undefined);
  for (let at = 0; at < head.length && steps.length <= mostSteps; at += 1) {
    const byte = head[at];
    if (byte === openBrace) {
      steps.push(undefined);
      isName = true;
    } else if (byte === openBracket) {
      steps.push('[]');
      isName = false;
    } else if (byte === closeBrace || byte === closeBracket) steps.pop();
    else if (byte === comma) isName = steps.at(-1) !== '[]';
    else if (byte === colon) isName = false;
    else if (byte === quote) {
      const end = closingQuote(head, at + 1);
      if (end >= head.length) break;
      const text = Buffer.from(head.subarray(at + 1, end)).toString('utf8');
      if (isName) {
        steps[steps.length - 1] = { name: text };
        if (isAssetId(text)) found([...path().slice(0, -1), 'keys']);
      } else if (isAssetId(text)) found(path());
      at = end;
    }
  }
  return ofOneShape([...places.values()]).filter(({ path: steps }) => isInside(steps));
}

/** So many members with ids at the same place within are one place: fewer may be the owner, the creator and the mint of a record. */
const fewestAlike = 4;

/** Places whose paths differ by a name alone are one. */
function ofOneShape(places: readonly IdPlace[]): IdPlace[] {
  let merged = [...places];
  for (let at = 0; at < mostSteps; at += 1) {
    const groups = new Map<string, IdPlace[]>();
    for (const place of merged) {
      const step = place.path[at];
      const key = JSON.stringify(typeof step === 'object' ? place.path.with(at, '*') : [place.path]);
      groups.set(key, [...(groups.get(key) ?? []), place]);
    }
    merged = [...groups.values()].flatMap((alike) => {
      const path = alike[0]?.path ?? [];
      const step = path[at];
      if (typeof step !== 'object') return alike;
      const isKnown = alike.some((each) => rankOfPlace(each.path.slice(0, at + 1)) >= 0);
      const isKeyed = isAssetId(step.name) || (alike.length >= fewestAlike && !isKnown);
      return isKeyed ? [{ path: path.with(at, '*'), ids: alike.reduce((sum, { ids }) => sum + ids, 0) }] : alike;
    });
  }
  return merged;
}

/** Whether a place is below what is read as a list: the outermost array, and members of its objects. */
function isInside(path: readonly Step[]): boolean {
  const [first, ...rest] = path[0] === '[]' ? path.slice(1) : path;
  return first === 'keys' || rest.length > 0;
}

/** Whether a place is a list for sure: named like an id, an array of ids, or the names of members. */
export function isList({ path, ids }: IdPlace): boolean {
  const last = path.at(-1);
  const isNamed = typeof last === 'object' && rankOfPlace(path) >= 0;
  const isMany = path.includes('[]') || path.includes('*');
  return (isNamed && isMany) || last === 'keys' || (last === '[]' && ids > 1);
}

/** The rank of the name before its last brackets among those of ids, in the singular or plural. */
function rankOfPlace(path: readonly Step[]): number {
  const last = path.findLast((step) => step !== '[]' && step !== '*');
  return typeof last === 'object' ? Math.max(rankOfName(last.name), rankOfName(last.name.replace(/s$/i, ''))) : -1;
}

/** The likeliest places: those that are lists for sure, else all; the best name first. */
function likeliest(places: readonly IdPlace[]): readonly IdPlace[] {
  const rank = ({ path }: IdPlace): number => {
    const ofName = rankOfPlace(path);
    return path.length + 100 * (ofName < 0 ? 50 : ofName);
  };
  const sure = places.filter(isList);
  const sorted = [...(sure.length > 0 ? sure : places)].sort((a, b) => rank(a) - rank(b));
  const [best] = sorted;
  return best !== undefined && rankOfPlace(best.path) >= 0 ? [best] : sorted.slice(0, 3);
}

/** Filters of jq that give the ids of each place, the likeliest first, and a clause that says how many ids each gives. */
export function jqFilters(places: readonly IdPlace[], head: Uint8Array): { filters: string[]; found: string } {
  const best = likeliest(places);
  const counts = best.map(({ path, ids }) => `${plural(ids, 'id')} at ${filterOf(path)}`).join(', ');
  return {
    filters: best.map(({ path }) => filterOf(path)),
    found: `${counts}${head.length >= headBytes ? ', in the beginning alone' : ''}`,
  };
}

/** How to make a list of what filters of jq give. */
export function jqTodo(input: string, filters: readonly string[]): string {
  const commands = filters.map((filter) => `jq -r ${shellWord(filter)}`);
  return listTodo('Make a list with jq, and use that', input, commands);
}

function filterOf(path: readonly Step[]): string {
  const isKeys = path.at(-1) === 'keys';
  const steps = isKeys ? path.slice(0, -1) : path;
  let filter = '';
  for (const step of steps) {
    if (step === 'keys') continue;
    if (step === '[]' || step === '*') filter += filter === '' ? '.[]' : '[]';
    else
      filter += /^[A-Za-z_]\w*$/.test(step.name)
        ? `.${step.name}`
        : `${filter === '' ? '.' : ''}[${JSON.stringify(step.name)}]`;
  }
  if (!isKeys) return filter;
  return filter === '' ? 'keys_unsorted[]' : `${filter} | keys_unsorted[]`;
}
