import type { IdList } from '../ids/id-list.ts';
import type { AssetAnswer, PieceOf, RefusedAnswer } from './asset-client.ts';

/** The ids of a call, and their places in the batch. */
export interface Asked {
  readonly ids: IdList;
  readonly places: Uint32Array;
  readonly pieceOf?: PieceOf | undefined;
  /** They have left in this run before. */
  readonly repeats?: true | undefined;
}

/** Whether the ids of a refused call have left in this run: those of a kept refusal left in an earlier one. */
export function haveLeft({ repeats }: Asked, answer: AssetAnswer): true | undefined {
  const isSent = answer.kind === 'refused' && answer.unsent !== true && answer.replayed !== true;
  return isSent ? true : repeats;
}

/** A piece of a call that was refused for its size. */
export function sized(repeats: boolean): Pick<Asked, 'pieceOf' | 'repeats'> {
  return { pieceOf: { isSuspected: false }, repeats: repeats ? true : undefined };
}

/** The place in a call of the one id that the service's words name; -1 when they name none or several. */
export function namedIn(answer: RefusedAnswer, ids: IdList): number {
  if (answer.why === 'size' || answer.doubtful) return -1;
  const words = new Set(answer.message.match(/[1-9A-HJ-NP-Za-km-z]{32,44}/g));
  const named = [...words].map((word) => ids.indexOf(word)).filter((place) => place >= 0);
  return named.length === 1 ? (named[0] ?? -1) : -1;
}
