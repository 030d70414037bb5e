import type { Clock } from '../../lib/clock.ts';
import type { ListIdsRequest } from '../../wings/listing/index.ts';
import type { Terminal } from '../terminal.ts';
import type { LoggedListing } from './listing-log.ts';
import type { ShownListing } from './listing-progress.ts';
import { isTerminal } from './show-progress.ts';

/** Shows how far a list is on stderr: lines that are redrawn on a terminal, log lines elsewhere. */
export async function showListing(
  request: Pick<ListIdsRequest, 'dialect'> & { readonly clock: Clock },
  logged: LoggedListing,
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
): Promise<ShownListing> {
  if (isTerminal(stderr, env)) return (await import('./listing-progress.ts')).listingOnTerminal(request, stderr);
  return (await import('./listing-log.ts')).listingInLog(request, logged, stderr);
}
