import { describe, expect, it } from 'vitest';
import { reply } from '../../core/client/support/rough-server.ts';
import { runsAll } from '../../support/lane.ts';
import { runInTrouble, type TroubleRun } from './trouble-run.ts';

/** Each row runs so often: once, or ten times where all tests are asked for (`npm run test:all`). */
const times = runsAll ? 10 : 1;
const timeLimitMs = times * 120_000;
const rounds = Array.from({ length: times }, (_, round) => round);

interface Row extends TroubleRun {
  readonly name: string;
  /** Calls that reach the service, at most; default 1.5 times the plan, and 16. */
  readonly most?: number;
  readonly end?: string;
  readonly failed?: number;
}

function busy({ response }: Parameters<NonNullable<TroubleRun['meddle']>>[0]): false {
  reply(response, { status: 503, body: '<html><title>503 Service Temporarily Unavailable</title></html>' });
  return false;
}

function rpcError(code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } });
}

/** A limit of calls a second without a burst, as nginx has it. */
function spaced(aSecond: number): NonNullable<TroubleRun['meddle']> {
  let next = 0;
  return (call) => {
    if (call.seconds < next) return busy(call);
    next = call.seconds + 1 / aSecond;
    return true;
  };
}

const rows: readonly (() => Row)[] = [
  () => ({ name: 'takes 5 calls a second, 503 to the rest', calls: 20, meddle: spaced(5) }),
  () => ({
    name: 'takes 2 calls at once, 503 to the rest',
    calls: 20,
    ms: 100,
    meddle: (call) => call.atOnce <= 2 || busy(call),
  }),
  () => ({
    name: 'refuses the form of every call after 110 ms',
    calls: 3,
    most: 3,
    end: 'unavailable',
    meddle: async ({ response }) => {
      await new Promise((resolve) => setTimeout(resolve, 110));
      reply(response, { body: rpcError(-32602, 'Invalid params: invalid type: sequence, expected a map') });
      return false;
    },
  }),
  () => ({
    name: 'answers -32004 Service temporarily unavailable for 5 s',
    calls: 20,
    meddle: ({ response, seconds, n }) => {
      if (n <= 4 || seconds > 5) return true;
      reply(response, { body: rpcError(-32004, 'Service temporarily unavailable') });
      return false;
    },
  }),
  () => ({
    name: 'answers -32004 Service temporarily unavailable for 3 s from the start',
    calls: 20,
    meddle: ({ response, seconds }) => {
      if (seconds > 3) return true;
      reply(response, { body: rpcError(-32004, 'Service temporarily unavailable') });
      return false;
    },
  }),
  () => ({
    name: 'answers -32603 Internal error for 1 s in the middle',
    calls: 20,
    meddle: ({ response, seconds, n }) => {
      if (n <= 4 || seconds > 1.2) return true;
      reply(response, { body: rpcError(-32603, 'Internal error') });
      return false;
    },
  }),
  () => ({
    name: 'is down for 3 s in the middle',
    calls: 40,
    meddle: ({ response, seconds, n }) => {
      if (n <= 6 || seconds > 3.2) return true;
      reply(response, { status: 502, body: '<html><title>502 Bad Gateway</title></html>' });
      return false;
    },
  }),
  () => ({
    name: 'shows a 403 page for a second after good answers',
    calls: 20,
    meddle: ({ response, seconds, n }) => {
      if (n <= 4 || seconds > 1) return true;
      reply(response, { status: 403, body: '<html><title>403 Forbidden</title></html>' });
      return false;
    },
  }),
];

describe('a service on loopback that', () => {
  it.concurrent.each(rows.map((make) => [make().name, make] as const))(
    '%s',
    async (_name, make) => {
      for (const round of rounds) {
        const { most, end = 'complete', failed = 0, ...run } = make();
        const { sent, outcome, ...ran } = await runInTrouble(run);
        const what = `round ${round}: ${sent} calls: ${outcome.error?.message ?? ''}`;
        expect(ran.end, what).toBe(end);
        expect(sent, what).toBeLessThanOrEqual(most ?? 1.5 * run.calls + 16);
        expect(outcome.account.counts, what).toMatchObject({ missing: 0, failed });
      }
    },
    timeLimitMs,
  );
});

describe('the only call of a job, with an id that always', () => {
  const bad = 321;
  const poisons: readonly (readonly [string, NonNullable<TroubleRun['meddle']>])[] = [
    [
      'makes the service answer 500',
      ({ response }) => {
        reply(response, { status: 500, body: 'no' });
        return false;
      },
    ],
    [
      'makes the service reset the connection',
      ({ response }) => {
        response.socket?.resetAndDestroy();
        return false;
      },
    ],
    ['makes the service hang', () => false],
  ];
  it.concurrent.each(poisons)(
    '%s, is the only one that fails',
    async (_name, poison) => {
      for (const round of rounds) {
        let first: string | undefined;
        const { end, sent, outcome } = await runInTrouble({
          calls: 1,
          idsPerCall: 800,
          ms: 0,
          flags: { 'timeout-ms': '1000', 'max-failed': '100%' },
          meddle: (call) => {
            first ??= call.ids[bad];
            return first === undefined || !call.ids.includes(first) || poison(call);
          },
        });
        const what = `round ${round}: ${sent} calls`;
        expect(end, what).toBe('complete');
        expect(outcome.account.counts, what).toMatchObject({ exported: 799, failed: 1, missing: 0 });
        // 167 in the simulation of the contract.
        expect(sent, what).toBeLessThanOrEqual(100);
      }
    },
    timeLimitMs,
  );
});
