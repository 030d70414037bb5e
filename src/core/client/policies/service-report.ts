import type { Clock } from '../../../lib/clock.ts';
import type { CallOutline, AttemptError, ClientListener, ServiceState } from '../asset-client.ts';
import type { Judgement, Unavailable, Verdict } from '../judgement/judgement.ts';
import type { Suspect } from '../judgement/suspicion.ts';
import { type ErrorFacts, ExportError } from '../../../lib/export-error.ts';
import { neverAnswered } from '../../../lib/network.ts';

/** Reports in words what the judgement believes of the service: each change is an event. */
export class ServiceReport {
  readonly #judgement: Judgement;
  readonly #clock: Clock;
  readonly #elapsed: Elapsed;
  readonly #listener: ClientListener | undefined;
  #state: ServiceState = 'working';
  #message = '';
  #sinceMs: number;
  #hasAnswered = false;
  #failedInRow = 0;
  #lastError = '';
  #id: string | undefined;
  /** Pieces of calls that an id is blamed for, without an answer. */
  #pieces = 0;
  #searchedIds = 0;

  /** @param elapsed the time of the judgement */
  constructor(judgement: Judgement, clock: Clock, elapsed: Elapsed, listener: ClientListener | undefined) {
    this.#judgement = judgement;
    this.#clock = clock;
    this.#elapsed = elapsed;
    this.#listener = listener;
    this.#sinceMs = clock.now();
  }

  facts(): TroubleFacts {
    return { failedInRow: this.#failedInRow, sinceMs: this.#sinceMs, hasAnswered: this.#hasAnswered, id: this.#id };
  }

  opened({ isPiece }: Suspect): void {
    if (isPiece) this.#pieces += 1;
  }

  closed({ isPiece }: Suspect): void {
    if (!isPiece) return;
    this.#pieces -= 1;
    if (this.#pieces === 0) this.#tell();
  }

  answered(): void {
    this.#hasAnswered = true;
    this.#sinceMs = this.#clock.now();
    this.#failedInRow = 0;
    this.#tell();
  }

  failed(error: AttemptError, call: CallOutline, suspect: Suspect | undefined, verdict: Verdict): void {
    this.#failedInRow += 1;
    this.#lastError = error.message;
    this.#id ??= call.ids.first;
    if (verdict.kind === 'cut' && suspect?.isPiece === false) this.#searchedIds = suspect.ids;
    this.#tell();
  }

  #tell(): void {
    const [state, message] = this.#explain();
    if (state === this.#state && message === this.#message) return;
    this.#state = state;
    this.#message = message;
    const waitMs = this.#judgement.notBeforeMs - this.#elapsed.now();
    const until = waitMs > 0 ? { untilMs: this.#clock.now() + waitMs } : {};
    this.#listener?.({ kind: 'service', state, message, ...until });
  }

  #explain(): readonly [ServiceState, string] {
    const { isOutage, limit, notBeforeMs } = this.#judgement;
    if (isOutage && this.#failedInRow > 1) {
      const waitS = Math.max(1, Math.round((notBeforeMs - this.#elapsed.now()) / 1000));
      const givesUpMs = this.#clock.now() + this.#judgement.patienceMs(this.#elapsed.now());
      return [
        'probing',
        `no answer since ${timeOf(this.#sinceMs)}: the next probe leaves in ${waitS} s, gives up at about ${timeOf(givesUpMs)}: ${this.#lastError}`,
      ];
    }
    if (this.#pieces > 0)
      return ['searching', `one of ${this.#searchedIds} ids makes the service fail: searching for it`];
    if (!limit.isLowered || !this.#judgement.isOpen) return ['working', ''];
    return ['slowed', `the service takes about ${paceOf(limit)}: ${this.#lastError}`];
  }
}

function paceOf({ calls, gapMs }: Judgement['limit']): string {
  if (gapMs === 0) return calls === 1 ? 'one call at a time' : `${calls} calls at once`;
  return gapMs <= 1000 ? `${Math.round(1000 / gapMs)} calls a second` : `a call every ${Math.round(gapMs / 1000)} s`;
}

/** What a run that ends knows of its attempts. */
export interface TroubleFacts {
  /** Attempts that failed since the last answer. */
  readonly failedInRow: number;
  /** When the service answered last, or the first attempt left, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Whether it answered at all. */
  readonly hasAnswered: boolean;
  /** The first id of a call that failed, to try by hand. */
  readonly id: string | undefined;
  /** What is sent: `positional parameters of getAssets`. */
  readonly sent?: string | undefined;
}

/** The service counts as unavailable: which explanation the judgement believes, why, and what to do. */
export function unavailable(why: Unavailable, known: TroubleFacts, error: AttemptError): ExportError {
  const facts = { explanation: why, attempts: known.failedInRow, status: error.status ?? null };
  if (why === 'contact') return unreached(error, facts);
  const { message, todo } = explanations[why](known, error.message);
  return new ExportError('unavailable', message, { todo, facts, cause: error });
}

/** The service never answered. */
export function unreached(error: AttemptError, facts?: ErrorFacts): ExportError {
  return neverAnswered('the service', error, 'Check service.url, the network and its proxy.', facts);
}

const explanations: Readonly<
  Record<Exclude<Unavailable, 'contact'>, (known: TroubleFacts, last: string) => { message: string; todo: string }>
> = {
  outage: ({ failedInRow, sinceMs, hasAnswered }, last) => ({
    message: `The service is down: ${hasAnswered ? 'no answer' : 'it has not answered'} since ${timeOf(sinceMs)}, ${failedInRow === 1 ? 'one attempt' : `${failedInRow} attempts in a row`} failed; last error: ${last}.`,
    todo: 'Run the same command again later. --retries sets how many probes an outage gets.',
  }),
  form: ({ failedInRow, id, sent }, last) => ({
    message: `The service refuses the form of the calls${sent === undefined ? '' : ` (${sent})`}: it answered none, and refused ${failedInRow} calls in a row for an unknown reason, single ids among them; last error: ${last}.`,
    todo: `Check service.dialect, service.flags and service.url: the service may expect other parameters.${id === undefined ? '' : ` Try one id: asset-export get ${id}.`} Then run the same command again.`,
  }),
  pace: (_known, last) => ({
    message: `The service rejects a call as too fast, however long it waits, while it answers single ids: ${last}.`,
    todo: 'Set --ids-per-call to a smaller number, or ask the provider for the limits of the key. Then run the same command again.',
  }),
};

/** `14:03:10`, UTC. */
function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

export function fromCache(error: AttemptError): ExportError {
  return new ExportError(
    'unavailable',
    'Something in front of the service answers from a cache: three calls for other ids got the same records.',
    {
      todo: 'Check service.url and the proxy: a cache has to tell calls apart by their bodies. Then run the same command again.',
      cause: error,
    },
  );
}

export function untrusted(error: AttemptError): ExportError {
  return new ExportError(
    'notTrusted',
    `The certificate of the service is not valid for its address: ${error.message}.`,
    {
      todo: 'Nothing was sent. Check service.url. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file. Then run the same command again.',
      cause: error,
    },
  );
}

/** Time that passed, in milliseconds. */
export class Elapsed {
  readonly #clock: Clock;
  #beganMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganMs = clock.monotonic();
  }

  now(): number {
    return this.#clock.monotonic() - this.#beganMs;
  }

  /** A sleep up to this moment is over: a timer may end a little before the clock says so. */
  reach(ms: number): void {
    this.#beganMs -= Math.max(0, ms - this.now());
  }
}
