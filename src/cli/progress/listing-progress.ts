import type { ClientListener } from '../../core/client/asset-client.ts';
import type { Clock } from '../../lib/clock.ts';
import { count, duration, plural, cutLine, folded } from '../../lib/format-text.ts';
import type { ListContext, ListEvent, ListIdsRequest } from '../../wings/listing/index.ts';
import type { Terminal } from '../stop-signals.ts';
import type { Progress } from './progress.ts';
import { redrawnBlock } from './redrawn-block.ts';

export interface ShownListing {
  readonly onEvent: ListContext['onEvent'];
  readonly listener: ClientListener;
  tell(message: string): void;
  end(): void;
  /** Logs how the list ended, as the last line. Absent on a terminal, which shows it as text. */
  readonly logEnd?: NonNullable<Progress['logEnd']>;
}

/** Lines that are redrawn. */
export function listingOnTerminal(
  { dialect, clock }: Pick<ListIdsRequest, 'dialect'> & { readonly clock: Clock },
  stderr: Terminal['stderr'],
): ShownListing {
  const startedMs = clock.monotonic();
  let latest: Extract<ListEvent, { kind: 'answered' }> | undefined;
  let service = '';
  const block = redrawnBlock(
    (columns) => ({ text: listingBlock(latest, { service, ms: clock.monotonic() - startedMs, columns }) }),
    stderr,
  );
  return {
    tell: (message) => {
      block.tell(message);
    },
    onEvent: (event) => {
      if (event.kind === 'answered') latest = event;
      const message = toldOf(event, dialect);
      if (message !== undefined) block.tell(message);
    },
    listener: (event) => {
      if (event.kind === 'service') service = event.message;
      if (event.kind === 'waiting') service = event.reason;
      if (event.kind === 'warning') block.tell(`warning: ${event.message}`);
    },
    end: () => {
      block.end();
    },
  };
}

/** What people are told of an event. */
export function toldOf(event: ListEvent, { list, priced }: ListIdsRequest['dialect']): string | undefined {
  switch (event.kind) {
    case 'opened':
      return event.keptPages === 0 ? undefined : `resumed: ${plural(event.keptPages, 'answer')} kept, at no cost`;
    case 'ceiling': {
      const { calls, empty, total } = event;
      const price = `${count(list.creditsPerPage)} a page (${priced.source}, read ${priced.day})`;
      if (total === undefined)
        return `price: ${price}; at most ${plural(empty, 'page')} may come back empty or be requested again, until more are known to have members`;
      const credits = plural(calls * list.creditsPerPage, 'credit');
      return `the service counts ${count(total)}: at most ${plural(calls, 'call')}, ${credits} (budget.overrun)`;
    }
    case 'warning':
      return `warning: ${event.message}`;
    case 'answered':
      return undefined;
  }
}

/** The lines that a terminal shows while a list is made. */
export function listingBlock(
  latest: Extract<ListEvent, { kind: 'answered' }> | undefined,
  { service, ms, columns }: { readonly service: string; readonly ms: number; readonly columns: number },
): string {
  if (latest === undefined) return cutLine(service, columns);
  const { counts, calls, credits } = latest;
  const facts = [
    plural(counts.members, 'member'),
    plural(counts.pages, 'page'),
    `${count(counts.emptyPages)} empty`,
    plural(calls, 'call'),
    plural(credits, 'credit'),
    duration(ms),
  ];
  return [...folded(facts, ' · ', columns), ...(service === '' ? [] : [service])]
    .map((line) => cutLine(line, columns))
    .join('\n');
}
