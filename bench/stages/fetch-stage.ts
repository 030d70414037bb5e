import { Agent } from 'undici';
import { AnswerBody } from '../../src/core/client/wire/answer-body.ts';
import { callBody } from '../../src/core/client/wire/call-body.ts';
import { BufferPool } from '../../src/lib/buffer-pool.ts';
import { eachAtOnce } from '../load/each-answer.mjs';
import type { Exchange } from './prepared.ts';
import type { Stage } from './stage.ts';

const lanes = 16;
const headers = { 'content-type': 'application/json' };

/** Fetching as the program does it. */
export function fetchStage(exchanges: readonly Exchange[], origin: string): Stage {
  const dispatcher = new Agent({ connections: lanes });
  const pool = new BufferPool(2 ** 26);
  const bodies = exchanges.map(({ call }) => callBody(call));
  const run = (): Promise<void> =>
    eachAtOnce(bodies.values(), lanes, async (body) => {
      const answer = await dispatcher.request({ origin, path: '/v3/key', method: 'POST', headers, body });
      const whole = new AnswerBody({ maxBytes: 2 ** 26, pool });
      for await (const piece of answer.body) whole.add(piece as Uint8Array);
      pool.give(await whole.end());
    });
  return { name: 'fetch', kind: 'csv', run };
}
