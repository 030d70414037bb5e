import type { AssetAnswer, AssetCall, AssetClient } from '../../../../src/core/client/asset-client.ts';
import { recordsOf } from './calls.ts';

/** What a scripted client does with a call: an answer, an error to throw, or a function that decides. */
export type Step =
  | AssetAnswer
  | Error
  | ((call: AssetCall, n: number) => AssetAnswer | Error | Promise<AssetAnswer | Error>);

export interface ScriptedClient extends AssetClient {
  readonly asked: AssetCall[];
  /** Most calls that were under way at once. */
  readonly most: () => number;
}

/** An innermost client that follows a script, a step a call; after the last step it answers every call in full. */
export function scriptedClient(steps: readonly Step[] = []): ScriptedClient {
  const asked: AssetCall[] = [];
  let flying = 0;
  let most = 0;
  return {
    asked,
    most: () => most,
    ask: async (call) => {
      const n = asked.push(call) - 1;
      flying += 1;
      most = Math.max(most, flying);
      try {
        const step = steps[n] ?? recordsOf(call);
        const outcome = await (typeof step === 'function' ? step(call, n) : step);
        if (outcome instanceof Error) throw outcome;
        return outcome;
      } finally {
        flying -= 1;
      }
    },
  };
}

/** The same step for every call. */
export function alwaysClient(step: Step): ScriptedClient {
  return scriptedClient(Array.from({ length: 10_000 }, () => step));
}

/** Calls that stay open until the test ends them. */
export function heldClient(): AssetClient & {
  readonly open: { call: AssetCall; end: (answer?: AssetAnswer | Error) => void }[];
} {
  const open: { call: AssetCall; end: (answer?: AssetAnswer | Error) => void }[] = [];
  return {
    open,
    ask: (call) =>
      new Promise((resolve, reject) => {
        open.push({
          call,
          end: (answer = recordsOf(call)) => {
            if (answer instanceof Error) reject(answer);
            else resolve(answer);
          },
        });
      }),
  };
}
