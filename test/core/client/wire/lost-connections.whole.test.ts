import { describe, it } from 'vitest';
import { expectFewMore } from '../support/export-of-calls.ts';
import type { Forgetting } from '../support/forgetful-server.ts';
import { sampled } from '../../../model/support/sample.ts';

const all: readonly Omit<Forgetting, 'share'>[] = (['RST', 'FIN'] as const).flatMap((by) =>
  (['head', 'end'] as const).flatMap((at) =>
    [2, 3, 4].flatMap((from) => [false, true].map((secure) => ({ by, at, from, secure }))),
  ),
);
const ways = sampled(all, 3);

describe('a balancer that forgets used connections, in all its ways', () => {
  // Promise, Whatever the service does: A balancer that forgets used connections: at most two attempts a call (sampled)
  it.each([0.01, 0.05, 0.2, 0.5, 1])('costs a call at most twice where it loses %d of the used ones', async (share) => {
    for (const way of ways) await expectFewMore({ share, ...way });
  });
});
