import type { AssetClient } from '../../../../src/core/client/asset-client.ts';
import { aloneIn } from '../../../../src/core/client/asset-client.ts';
import type { AssetCall } from '../../../../src/core/client/asset-client.ts';
import { Ended } from '../../../../src/core/client/policies/day-gate.ts';
import {
  type JudgedAsker,
  type JudgementPolicyOptions,
  withJudgement,
} from '../../../../src/core/client/policies/with-judgement.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

export type JudgedOptions = Partial<JudgementPolicyOptions<AssetCall>> & { readonly stop?: AbortSignal | undefined };

/** The judgement around a client, with controls as a real client sends them. */
export function judged(inner: AssetClient, { stop, ...options }: JudgedOptions = {}): JudgedAsker<AssetCall> {
  return withJudgement(inner, {
    ended: new Ended(stop),
    concurrency: 4,
    retries: 8,
    clock: createFakeClock(),
    random: () => 0.5,
    controlOf: aloneIn,
    ...options,
  });
}
