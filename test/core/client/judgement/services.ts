import type { Trouble } from '../../../../src/core/client/judgement/suspicion.ts';

export interface Asked {
  /** Numbers of the ids of a call, from the first up to the end. */
  readonly first: number;
  readonly end: number;
  /** Numbers of all ids of the call. */
  readonly ids: readonly number[];
  /** Seconds since the run began. */
  readonly now: number;
  /** Calls in flight, this one included. */
  readonly atOnce: number;
  readonly random: () => number;
  /** It must not reuse a connection. */
  readonly fresh: boolean;
}

export interface Reply {
  readonly ok: boolean;
  readonly ms: number;
  readonly trouble?: Trouble;
  readonly waitMs?: number;
  /** Numbers of the ids that the answer lacks. */
  readonly lacks?: readonly number[];
  /** The failure is an error in the envelope of the call. */
  readonly inWords?: boolean;
  /** The connection was used before, and ended before an answer. */
  readonly lost?: boolean;
  /** Numbers of ids that the answer shows although they were not requested. */
  readonly foreign?: readonly number[];
  /** A refusal that ends a run. */
  readonly end?: 'spent' | 'key';
  /** The words of a refusal for the size of the call. */
  readonly refusal?: string;
}

/** A service in trouble: what it does with a call. */
export type Service = (asked: Asked) => Reply;

/** Takes so many calls at once, and refuses more at once. */
export function capacity(most: number, ms = 200): Service {
  const ends: number[] = [];
  return ({ now }) => {
    while (ends.length > 0 && (ends[0] ?? 0) <= now + 1e-9) ends.shift();
    if (ends.length >= most) return { ok: false, ms: 5 };
    ends.push(now + ms / 1000);
    return { ok: true, ms };
  };
}

/** Takes so many calls a second, and as many at once after a rest. */
export function bucketOf(aSecond: number, ms = 200): Service {
  const most = Math.max(1, aSecond);
  let tokens = most;
  let last = 0;
  return ({ now }) => {
    tokens = Math.min(most, tokens + (now - last) * aSecond);
    last = now;
    if (tokens < 1) return { ok: false, ms: 5 };
    tokens -= 1;
    return { ok: true, ms };
  };
}

/** Takes calls no closer to each other than this, as nginx does without a burst. */
export function spaced(aSecond: number, ms = 20): Service {
  let next = 0;
  return ({ now }) => {
    if (now < next) return { ok: false, ms: 5 };
    next = now + 1 / aSecond;
    return { ok: true, ms };
  };
}

/** Fails at random. */
export function flaky(share: number, ms = 200): Service {
  return ({ random }) => ({ ok: random() >= share, ms: random() < 0.5 ? ms : 2 * ms });
}

/** Is down from a moment on, for so many seconds. */
export function outage(from: number, seconds: number, ms = 200): Service {
  return ({ now }) => (now >= from && now < from + seconds ? { ok: false, ms: 5 } : { ok: true, ms });
}

export function down(): Service {
  return () => ({ ok: false, ms: 100 });
}

/** Fails each call that has one of these ids. */
export function poisoned(isBad: (id: number) => boolean, ms = 200, words: Partial<Reply> = {}): Service {
  return ({ first, end }) => {
    for (let id = first; id < end; id += 1) if (isBad(id)) return { ok: false, ms: 20, ...words };
    return { ok: true, ms };
  };
}

/** What any of these refuses is refused. */
export function all(...services: readonly Service[]): Service {
  return (asked) => {
    let reply: Reply = { ok: true, ms: 0 };
    for (const service of services) {
      const next = service(asked);
      if (!next.ok) return next;
      reply = { ok: true, ms: Math.max(reply.ms, next.ms) };
    }
    return reply;
  };
}

/** The same service, whose failures are of another kind. */
export function failing(service: Service, trouble: Trouble, waitMs?: number): Service {
  return (asked) => {
    const reply = service(asked);
    return reply.ok ? reply : { ...reply, trouble, ...(waitMs === undefined ? {} : { waitMs }) };
  };
}

/** Works at so many calls at once; others wait in a queue. */
export function queued(workers: number, ms: number): Service {
  const free: number[] = Array.from({ length: workers }, () => 0);
  return ({ now }) => {
    const at = free.indexOf(Math.min(...free));
    const ends = Math.max(now, free[at] ?? 0) + ms / 1000;
    free[at] = ends;
    return { ok: true, ms: (ends - now) * 1000 };
  };
}
