import { ExportError } from '../../../lib/export-error.ts';
import { count, plural } from '../../../lib/format-text.ts';

/** What is known when a run has sent more calls than its ids are worth. */
export interface OverrunFacts {
  /** Calls. */
  readonly planned: number;
  readonly sent: number;
  /** Ids that left. */
  readonly ids: number;
  /** Most ids a call, as the calls were planned. */
  readonly idsPerCall: number;
  /** The most that the service takes, if this run found out. */
  readonly learned: number | undefined;
  /** The last errors of different words, the last one first. */
  readonly errors: readonly string[];
  /** Ids that the service refuses, or calls that hold them. */
  readonly badIds: number;
}

/** The run has passed its overrun: why, as far as it is known, and what to do. */
export function overrunError(facts: OverrunFacts): ExportError {
  const { planned, sent, errors, badIds } = facts;
  const shrunk = shrunkText(facts);
  const planText = `${plural(planned, 'call')} ${planned === 1 ? 'was' : 'were'} planned so far and ${count(sent)} sent`;
  const message = [
    `${planText}: ${shrunk ?? 'the service refuses most of them'}.`,
    ...(errors.length === 0 ? [] : [`Last errors: ${errors.join('; ')}.`]),
    ...(badIds === 0 ? [] : [`Bad ids found so far: ${count(badIds)}.`]),
  ].join(' ');
  const again =
    shrunk === undefined
      ? 'When the service works, run the same command again: it resumes.'
      : 'Run the same command again: it resumes with that size. asset-export plan prints the new bill.';
  return new ExportError('overrun', message, {
    todo: `${again} To allow more calls, raise budget.overrun, for example --overrun 50%,1000.`,
    facts: { planned, sent, badIds },
  });
}

function shrunkText({ ids, idsPerCall, learned }: OverrunFacts): string | undefined {
  if (learned === undefined || learned >= idsPerCall) return undefined;
  const calls = plural(Math.ceil(ids / learned), 'call');
  return `the service takes at most ${plural(learned, 'id')} per call, not ${count(idsPerCall)}, so the ids so far need ${calls}`;
}
