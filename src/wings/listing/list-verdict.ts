import { ExportError } from '../../lib/export-error.ts';
import type { ListVerdict } from './walk/walk.ts';

/** Why a list is not to have its name; undefined where it is proven, and has as many members as were expected. */
export function whyNotDone(
  { proof, why = '', restCalls }: ListVerdict,
  count: number,
  expect: number | undefined,
): ExportError | undefined {
  if (count === 0)
    return new ExportError('notTolerated', 'no members: the service lists none', {
      todo: 'Check the address and the filter. Burnt assets are never listed.',
    });
  if (expect !== undefined && expect !== count)
    return new ExportError('notTolerated', `${count} members, and --expect is ${expect}`, {
      todo: 'Correct --expect, or start over with --fresh if the members changed.',
      facts: { members: count, expect },
    });
  if (proof !== 'none') return undefined;
  const rest =
    restCalls === undefined ? '' : ` About ${restCalls} more calls would settle the rest: --proof-calls N allows them.`;
  return new ExportError('notTolerated', `not proven: ${why}`, {
    todo: `Answered pages are kept, and cost nothing again.${rest} If you know the number of members, give it with --expect N.`,
    facts: { members: count, restCalls: restCalls ?? null },
  });
}
