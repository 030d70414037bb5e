import type { AssetClient } from '../../../src/client/asset-client.ts';
import { aloneIn } from '../../../src/client/asset-client.ts';
import type { AssetCall } from '../../../src/client/asset-client.ts';
import {
  type JudgedAsker,
  type JudgementPolicyOptions,
  withJudgement,
} from '../../../src/client/policies/with-judgement.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** The judgement around a client, with controls as a real client sends them. */
export function judged(
  inner: AssetClient,
  options: Partial<JudgementPolicyOptions<AssetCall>> = {},
): JudgedAsker<AssetCall> {
  return withJudgement(inner, {
    ...{ concurrency: 4, retries: 8, clock: createFakeClock(), random: () => 0.5, controlOf: aloneIn },
    ...options,
  });
}
