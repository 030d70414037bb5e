import { idCharacters } from './ids.ts';
import { type PreparedRecord, type Records, recordsPerBody } from './records.ts';

const head = Buffer.from('{"jsonrpc":"2.0","result":[');
const tail = Buffer.from('],"id":1}');
const idsBegin = Buffer.from('[["');
const idsEnd = Buffer.from('"]');
/** In a request, from an id to the next: its characters, two quotes and a comma. */
const idStride = idCharacters + 3;

/** A whole answer of 1,000 records, in which the ids of a call are put where its own ids stand. */
interface PreparedBody {
  readonly bytes: Buffer;
  /** Where ids stand, record by record: number of the record, position in `bytes`. */
  readonly places: readonly (readonly [record: number, position: number])[];
  /** Position behind each record. */
  readonly ends: readonly number[];
  /** While an answer leaves, another call gets a copy. */
  leaving: boolean;
}

export interface PreparedAnswer {
  readonly pieces: readonly Buffer[];
  /** To be called when the bytes have left. */
  readonly done: () => void;
}

/**
 * Answers that cost next to nothing to give: the body is chosen by the call's first id, and only ids are written into it.
 * The same call is answered alike each time.
 */
export class PreparedAnswers {
  readonly #bodies: readonly PreparedBody[];

  constructor(bodies: number, records: Records) {
    this.#bodies = Array.from({ length: bodies }, (_, body) => prepare(records(body)));
  }

  /** The answer to a `getAssets` request in the one shape that the bench sends; undefined to any other. */
  answer(request: Buffer): PreparedAnswer | undefined {
    const first = request.indexOf(idsBegin) + idsBegin.length;
    const count = (request.indexOf(idsEnd, first) - first + 3) / idStride;
    if (first < idsBegin.length || !Number.isInteger(count) || count < 1 || count > recordsPerBody) return undefined;
    const body = this.#bodies[request.readUInt32LE(first + 8) % this.#bodies.length];
    if (body === undefined) return undefined;
    const copied = body.leaving;
    const bytes = copied ? Buffer.from(body.bytes) : body.bytes;
    if (!copied) body.leaving = true;
    for (const [record, position] of body.places) {
      if (record >= count) break;
      const from = first + record * idStride;
      request.copy(bytes, position, from, from + idCharacters);
    }
    return {
      pieces: [bytes.subarray(0, body.ends[count - 1]), tail],
      done: () => {
        if (!copied) body.leaving = false;
      },
    };
  }
}

function prepare(records: readonly PreparedRecord[]): PreparedBody {
  const pieces: Buffer[] = [head];
  const places: [number, number][] = [];
  const ends: number[] = [];
  let end = head.length;
  for (const [number, { id, record }] of records.entries()) {
    const piece = Buffer.from(`${number === 0 ? '' : ','}${record}`);
    for (let at = piece.indexOf(id); at >= 0; at = piece.indexOf(id, at + 1)) places.push([number, end + at]);
    pieces.push(piece);
    end += piece.length;
    ends.push(end);
  }
  return { bytes: Buffer.concat(pieces), places, ends, leaving: false };
}
