import { isJsonObject, type JsonObject, parseJson } from '../../../lib/json/json.ts';
import {
  type AssetAnswer,
  type AssetCall,
  type AssetClient,
  type RefusedAnswer,
  settledIds,
  type ClientListener,
} from '../asset-client.ts';
import { callKey } from '../wire/call-body.ts';
import { MalformedAnswer, parseAnswer } from '../wire/parse-answer.ts';
import { hidden, type Scrub } from '../wire/service-address.ts';

/** Where definite answers are kept until all that they touch is committed. */
export interface AnswerJournal {
  /** The bytes kept under a key (64 hex digits) for a part, or undefined. */
  find(key: string, part: number, room?: AssetCall['room']): Promise<Uint8Array | undefined>;
  /** Resolves when the bytes survive the end of this process. */
  append(entry: AnswerEntry): Promise<void>;
}

export interface AnswerEntry {
  readonly key: string;
  /** The part whose ids were requested. */
  readonly part: number;
  readonly body: Uint8Array;
}

export interface JournalOptions {
  readonly journal: AnswerJournal;
  readonly listener?: ClientListener | undefined;
  /** Takes the key out of the words of kept errors. */
  readonly scrub?: Scrub | undefined;
  readonly onHint?: ((hint: KeptHint) => void) | undefined;
}

/** What kept answers show of the service: the most ids a call that an earlier run believed in, or an id of a call that it answered. */
export type KeptHint = { readonly most: number } | { readonly answered: string };

/**
 * The whole of the journal, on both sides of the policies: a kept answer is given before they are asked, and what arrives is
 * written next to the wire, before they hear of it.
 * @param policiesAround puts the policies around a wire
 */
export function journaled(
  wire: AssetClient,
  policiesAround: (wire: AssetClient) => AssetClient,
  options: JournalOptions,
): AssetClient {
  const arrivals = new ArrivalJournal(options.journal, options.scrub);
  return withJournal(policiesAround(arrivals.keeping(wire)), { ...options, journal: arrivals });
}

/** The outer side: keeps every definite answer; a call whose answer is kept is not sent. */
export function withJournal(inner: AssetClient, options: JournalOptions): AssetClient {
  const { journal, listener } = options;
  // A refusal for no known reason may be the service's own trouble: it is kept once another call has succeeded,
  // else an outage would leave refusals behind that the next run believes.
  let doubtful: AnswerEntry[] = [];

  function hint(kept: AssetAnswer, { first }: AssetCall['ids']): void {
    if (kept.kind === 'refused') {
      if (kept.most !== undefined) options.onHint?.({ most: kept.most });
    } else if (first !== undefined) options.onHint?.({ answered: first });
  }

  async function keep(key: string, call: AssetCall, answer: AssetAnswer): Promise<void> {
    const entry = { key, part: call.part, body: keptBytes(answer, options.scrub) };
    if (answer.kind === 'refused' && answer.doubtful) {
      doubtful.push(entry);
      return;
    }
    await journal.append(entry);
    if (answer.kind !== 'records') return;
    const believed = doubtful;
    doubtful = [];
    for (const each of believed) await journal.append(each);
  }

  return {
    ask: async (call) => {
      const key = callKey(call);
      const bytes = await journal.find(key, call.part, call.room);
      const kept = bytes === undefined ? undefined : keptAnswer(bytes, call, options.scrub);
      if (kept !== undefined) {
        listener?.({ kind: 'replayed', ids: settledIds(kept, call) });
        hint(kept, call.ids);
        return kept.kind === 'refused' ? { ...kept, replayed: true } : kept;
      }
      const answer = await inner.ask(call);
      await keep(key, call, answer);
      return answer;
    },
  };
}

/** No JSON begins with it: marks a refusal, kept in short form; other bodies are answers as received. */
const refusalMark = '!';

/** An answer as it is kept: `keptAnswer` reads it. The words of its errors may repeat the key. */
export function keptBytes(answer: AssetAnswer, scrub?: Scrub): Uint8Array {
  if (answer.kind === 'records') {
    const hasKey = scrub !== undefined && answer.errors.some(({ message }) => message.includes(hidden));
    return hasKey ? Buffer.from(scrub(Buffer.from(answer.body).toString('utf8'))) : answer.body;
  }
  const { why, message, unsent, most, tries, doubtful } = answer;
  return Buffer.from(
    refusalMark + JSON.stringify({ why, message, unsent, most, tries, ...(doubtful ? { doubtful } : {}) }),
  );
}

/** The answer that journaled bytes hold; undefined when they hold none for this call, which is then asked again. */
export function keptAnswer(bytes: Uint8Array, call: AssetCall, scrub?: Scrub): AssetAnswer | undefined {
  try {
    if (bytes[0] === refusalMark.charCodeAt(0)) return keptRefusal(Buffer.from(bytes).toString('utf8').slice(1));
    const answer = parseAnswer(bytes, call, scrub);
    return answer.kind === 'records' ? answer : undefined;
  } catch (error) {
    if (error instanceof MalformedAnswer || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function keptRefusal(text: string): RefusedAnswer | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { why, message, unsent, doubtful } = value;
  if ((why !== 'size' && why !== 'id' && why !== 'notFound') || typeof message !== 'string') return undefined;
  return {
    kind: 'refused',
    why,
    message,
    doubtful: doubtful === true,
    ...(unsent === true ? { unsent } : {}),
    // The same cut as before: else calls whose answers are kept would not be made again.
    ...numbersOf(value, ['most', 'tries']),
  };
}

function numbersOf<Name extends string>(value: JsonObject, names: readonly Name[]): Partial<Record<Name, number>> {
  const found: Partial<Record<Name, number>> = {};
  for (const name of names) if (typeof value[name] === 'number') found[name] = value[name];
  return found;
}

/**
 * A journal in which answers are written as they arrive, before the policies hear of them: they give its slot to another call,
 * and a crash must repeat no more calls than there are slots.
 */
class ArrivalJournal implements AnswerJournal {
  readonly #journal: AnswerJournal;
  readonly #scrub: Scrub | undefined;
  /** Answers that are written, until they reach their place in the order of wrappers. */
  readonly #arrived = new Set<string>();

  constructor(journal: AnswerJournal, scrub: Scrub | undefined) {
    this.#journal = journal;
    this.#scrub = scrub;
  }

  find(...wanted: Parameters<AnswerJournal['find']>): Promise<Uint8Array | undefined> {
    return this.#journal.find(...wanted);
  }

  async append(entry: AnswerEntry): Promise<void> {
    if (!this.#arrived.delete(entry.key)) await this.#journal.append(entry);
  }

  /** The wire, whose every answer is kept. */
  keeping(wire: AssetClient): AssetClient {
    return {
      ask: async (call) => {
        const answer = await wire.ask(call);
        // A refused size is kept once it is decided where to cut the call.
        if (answer.kind === 'refused' && answer.why === 'size') return answer;
        const key = callKey(call);
        await this.#journal.append({ key, part: call.part, body: keptBytes(answer, this.#scrub) });
        this.#arrived.add(key);
        return answer;
      },
    };
  }
}
