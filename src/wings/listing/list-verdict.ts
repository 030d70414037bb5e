import { ExportError } from '../../lib/export-error.ts';
import { count, plural } from '../../lib/format-text.ts';
import type { ListVerdict } from './walk/walk.ts';

/** Why a list is not to have its name, as a clause; undefined where it is proven, and has as many members as were expected. */
export function whyUnnamed(
  { proof, why }: ListVerdict,
  members: number,
  expect: number | undefined,
): string | undefined {
  if (members === 0) return 'no members';
  if (expect !== undefined && expect !== members) return `${count(members)} members, and --expect is ${count(expect)}`;
  return proof === 'none' ? why : undefined;
}

/** The error of a list without its name. @param path where what was found of it is */
export function unnamed(
  why: string,
  path: string,
  {
    members,
    restCalls,
    expect,
  }: { readonly members: number; readonly restCalls: number | undefined; readonly expect: number | undefined },
): ExportError {
  if (members === 0)
    return new ExportError('notTolerated', 'no members: the service lists none', {
      todo: 'Check the address and the filter: a wallet has no members, and ids --owner lists what it owns. Burnt assets are never listed.',
    });
  if (expect !== undefined && expect !== members)
    return new ExportError('notTolerated', `${why}: the list is in ${path}`, {
      todo: 'Correct --expect, or start over with --fresh if the members changed.',
      facts: { members, expect },
    });
  const rest =
    restCalls === undefined
      ? ''
      : ` About ${plural(restCalls, 'more call')} would settle the rest: --proof-calls N allows them.`;
  return new ExportError('notTolerated', `not proven: ${why}. What was found is in ${path}`, {
    todo: `Answered pages are kept, and cost nothing again.${rest} If you know the number of members, give it with --expect N.`,
    facts: { members, restCalls: restCalls ?? null },
  });
}
