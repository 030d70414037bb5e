import type { Verdicts } from './proofs/prove-row.ts';
import type { RowBlock } from './row-block.ts';

let prover: ((block: RowBlock, row: number) => Verdicts) | undefined;

/** Loads what computes hashes, where rows are to prove themselves. Awaited before the first row is made. */
export async function readyProver({ proofs }: { readonly proofs: boolean }): Promise<void> {
  if (proofs) prover ??= (await import('./proofs/prove-row.ts')).proveRow;
}

/** The verdicts of a row of the whole table `assets`. */
export function verdictsOf(block: RowBlock, row: number): Verdicts {
  if (prover === undefined) throw new Error('readyProver was not awaited');
  return prover(block, row);
}
