import { isJsonObject, type Json, type JsonObject } from '../../lib/json/json.ts';

/** How a record differs from the specification: a value that its column cannot hold, or a field or value not named there. */
const driftKinds = ['misfit', 'unknownField', 'unknownValue'] as const;
export type DriftKind = (typeof driftKinds)[number];

export interface Drift {
  /** Where in the record, as `driftPath` writes it: `content.files[].cdn_uri`. */
  readonly path: string;
  readonly kind: DriftKind;
}

/** How often one drift was met, for the manifest. */
export interface DriftCount extends Drift {
  readonly count: number;
  /** The id of the first asset that showed it. */
  readonly sampleId: string;
}

/** The path under which drifts of one kind are summed when there are too many to name. */
export const otherPaths = '…';

/** Most distinct paths kept of one kind: a record's names are the service's, so their number has no bound of its own. */
const maxPaths = 500;
const maxPathLength = 200;

/** The path of a member: names joined by dots, `["a b"]` where a name is no plain word; long ones are cut. */
export function driftPath(parent: string, name: string): string {
  const plain = name.length < maxPathLength && /^[\w$-]+$/.test(name);
  const shown = plain ? name : `[${printable(JSON.stringify(name.slice(0, maxPathLength)))}]`;
  const path = plain && parent !== '' ? `${parent}.${shown}` : parent + shown;
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength - 1)}…` : path;
}

/** Escapes what JSON leaves bare but a terminal obeys or hides: C1 controls, zero-width and direction marks. */
function printable(text: string): string {
  return text.replaceAll(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Sums drifts by kind and path. Fed in the order of the input, its counts depend on the records alone. */
export interface DriftCounter {
  /** Counts a drift of an asset, whose id is asked for when it is the first that shows it. */
  add(drift: Drift, id: () => string): void;
  /** Adds the counts of a later part. */
  merge(counts: readonly DriftCount[]): void;
  /** The counts, by kind and then path. */
  list(): DriftCount[];
}

export function createDriftCounter(): DriftCounter {
  const kinds: Record<DriftKind, Map<string, { count: number; sampleId: string }>> = {
    misfit: new Map(),
    unknownField: new Map(),
    unknownValue: new Map(),
  };
  function add({ path, kind }: Drift, count: number, sampleId: () => string): void {
    const sums = kinds[kind];
    const known = sums.get(path);
    if (known !== undefined) known.count += count;
    else if (sums.size < maxPaths || path === otherPaths) sums.set(path, { count, sampleId: sampleId() });
    else add({ path: otherPaths, kind }, count, sampleId);
  }
  return {
    add: (drift, id) => {
      add(drift, 1, id);
    },
    merge: (counts) => {
      for (const each of counts) add(each, each.count, () => each.sampleId);
    },
    list: () =>
      driftKinds.flatMap((kind) =>
        [...kinds[kind]].map(([path, sum]) => ({ path, kind, ...sum })).sort((a, b) => (a.path < b.path ? -1 : 1)),
      ),
  };
}

/** What a service sends in place of a record: why it has none of this id. */
export interface ErrorEntry extends JsonObject {
  id: string;
  error: Json;
}

/** True for `{id, error}`. A record with an `interface` stays one, whatever else it holds. */
export function isErrorEntry(value: Asset): value is ErrorEntry {
  const { error } = value;
  return error !== undefined && error !== null && (value['interface'] ?? null) === null;
}

interface Asset extends JsonObject {
  id: string;
}

/** What a record must be to become a row: an object with an id. All else is checked column by column, and kept. */
export function isAsset(value: Json): value is Asset {
  return isJsonObject(value) && typeof value['id'] === 'string';
}
