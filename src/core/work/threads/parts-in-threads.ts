import type { Batch } from '../../ids/batch-ids.ts';
import type { FinishedPart } from '../write-parts.ts';
import { groupParts, type PartGroup, peek, unpackBatch } from './group-parts.ts';
import { type CrewRequest, partsOfThreads } from './thread-crew.ts';

/** Parts made by threads, where there is more than one group of them; else by `here`. */
export async function* partsInThreads(
  batches: AsyncIterable<Batch>,
  here: (batches: AsyncIterable<Batch>) => AsyncGenerator<FinishedPart, void, void>,
  request: Omit<CrewRequest, 'groups'>,
): AsyncGenerator<FinishedPart, void, void> {
  const { first, all } = await peek(groupParts(batches), 2);
  if (first.length < 2) yield* here(unpacked(first));
  else yield* partsOfThreads({ ...request, groups: all });
}

async function* unpacked(groups: readonly PartGroup[]): AsyncGenerator<Batch, void, void> {
  for (const { batches } of groups) for (const packed of batches) yield unpackBatch(packed);
}
