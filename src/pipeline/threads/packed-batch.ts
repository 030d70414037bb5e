import type { Batch } from '../batch-ids.ts';
import type { IdEntry, Sighting } from '../id-entry.ts';

/** A batch as few pieces of plain data: a stretch of 100,000 entries crosses to a thread in milliseconds. */
export interface PackedBatch {
  readonly first: number;
  readonly part: number;
  /** All texts, one after another, and where each ends. */
  readonly texts: string;
  readonly textEnds: Uint32Array;
  readonly sources: Uint32Array;
  readonly lines: Float64Array;
  readonly sightings: Uint8Array;
  /** By the index of the entry; few have one. */
  readonly reasons: ReadonlyMap<number, string>;
  /** The ids to ask for, where they are not simply those of the valid entries. */
  readonly ids: readonly string[] | undefined;
  readonly idsBefore: number | undefined;
  /** Of a batch that another stretch needs too: where the whole of it begins. */
  readonly sharedFrom: number | undefined;
}

const sightingNames: readonly Sighting[] = ['valid', 'invalid', 'duplicate'];

export function packBatch({ first, part, entries, ids, idsBefore }: Batch, sharedFrom?: number): PackedBatch {
  const { valid, ...columns } = columnsOf(entries);
  const asked = idsBefore === undefined && valid === ids.length ? undefined : ids;
  const texts = entries.map(({ text }) => text).join('');
  return { first, part, texts, ...columns, ids: asked, idsBefore, sharedFrom };
}

// Nothing follows the loop: see "What does not help" in docs/performance.md.
function columnsOf(entries: readonly IdEntry[]) {
  const { length } = entries;
  const textEnds = new Uint32Array(length);
  const sources = new Uint32Array(length);
  const lines = new Float64Array(length);
  const sightings = new Uint8Array(length);
  const reasons = new Map<number, string>();
  let end = 0;
  let valid = 0;
  let index = 0;
  for (const { text, source, line, sighting, reason } of entries) {
    end += text.length;
    textEnds[index] = end;
    sources[index] = source;
    lines[index] = line;
    sightings[index] = sightingNames.indexOf(sighting);
    if (reason !== '') reasons.set(index, reason);
    if (sighting === 'valid') valid += 1;
    index += 1;
  }
  return { textEnds, sources, lines, sightings, reasons, valid };
}

export function unpackBatch(packed: PackedBatch): Batch {
  const { first, part, texts, textEnds, sources, lines, sightings, reasons, idsBefore } = packed;
  const entries: IdEntry[] = [];
  let start = 0;
  for (const [index, end] of textEnds.entries()) {
    entries.push({
      text: texts.slice(start, end),
      source: sources[index] ?? 0,
      line: lines[index] ?? 0,
      sighting: sightingNames[sightings[index] ?? 0] ?? 'valid',
      reason: reasons.get(index) ?? '',
    });
    start = end;
  }
  const ids = packed.ids ?? entries.filter(({ sighting }) => sighting === 'valid').map(({ text }) => text);
  return { first, part, entries, ids, ...(idsBefore === undefined ? {} : { idsBefore }) };
}
