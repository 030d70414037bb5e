import { isJsonObject, parseJson } from '../assets/json.ts';
import type { AssetAnswer, AssetCall, AssetClient, RefusedAnswer } from './asset-client.ts';
import { callKey } from './call-body.ts';
import type { ClientListener } from './client-events.ts';
import { MalformedAnswer, parseAnswer } from './parse-answer.ts';
import type { AnsweredSize } from './with-size-guard.ts';

/** Where definite answers are kept until all that they touch is committed. */
export interface AnswerJournal {
  /** The bytes kept under a key (64 hex digits), or undefined. */
  find(key: string): Promise<Uint8Array | undefined>;
  /** Resolves when the bytes survive the end of this process. */
  append(entry: AnswerEntry): Promise<void>;
}

export interface AnswerEntry {
  readonly key: string;
  /** The last part that an id of the call belongs to. */
  readonly part: number;
  readonly body: Uint8Array;
}

export interface JournalOptions {
  readonly journal: AnswerJournal;
  readonly listener?: ClientListener | undefined;
  /** Told what the answers of an earlier run say of the sizes that the service takes. */
  readonly onReplayed?: ((size: AnsweredSize) => void) | undefined;
}

/** Keeps every definite answer as it arrives; a call whose answer is kept is not sent. */
export function withJournal(inner: AssetClient, options: JournalOptions): AssetClient {
  const { journal, listener } = options;
  // A refusal for no known reason may be the service's own trouble: it is kept once another call has succeeded,
  // else an outage would leave refusals behind that the next run believes.
  let doubtful: AnswerEntry[] = [];

  async function keep(key: string, call: AssetCall, answer: AssetAnswer): Promise<void> {
    const entry = { key, part: call.part, body: keptBytes(answer) };
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
      const bytes = await journal.find(key);
      const kept = bytes === undefined ? undefined : keptAnswer(bytes, call);
      if (kept !== undefined) {
        listener?.({ kind: 'replayed', ids: call.ids.length });
        const isTaken = kept.kind === 'records';
        if (isTaken || isSizeOfService(kept)) options.onReplayed?.({ ids: call.ids.length, isTaken });
        return kept;
      }
      const answer = await inner.ask(call);
      await keep(key, call, answer);
      return answer;
    },
  };
}

function isSizeOfService({ why, unsent }: RefusedAnswer): boolean {
  return why === 'size' && unsent !== true;
}

/** No JSON begins with it: tells a refusal, kept in few words, from an answer kept as it came. */
const refusalMark = '!';

/** An answer as it is kept: `keptAnswer` reads it. */
export function keptBytes(answer: AssetAnswer): Uint8Array {
  if (answer.kind === 'records') return answer.body;
  const { why, message, unsent, doubtful } = answer;
  return Buffer.from(refusalMark + JSON.stringify({ why, message, unsent, ...(doubtful ? { doubtful } : {}) }));
}

/** The answer that journaled bytes hold; undefined when they hold none for this call, which is then asked again. */
export function keptAnswer(bytes: Uint8Array, call: AssetCall): AssetAnswer | undefined {
  try {
    if (bytes[0] === refusalMark.charCodeAt(0)) return keptRefusal(Buffer.from(bytes).toString('utf8').slice(1));
    const answer = parseAnswer(bytes, call);
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
  return { kind: 'refused', why, message, doubtful: doubtful === true, ...(unsent === true ? { unsent } : {}) };
}
