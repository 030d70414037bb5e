import type { Counts } from '../../places/export/export-facts.ts';
import type { AccountFigures } from '../../core/run/record/runs-model.ts';
import { count } from '../../lib/format-text.ts';

/** The accounting identity as a sum: `read = exported (+ carried) + missing + invalid + duplicate + failed (+ pending)`. */
export function identityLines(
  counts: Counts,
  { fetched, pending }: Pick<AccountFigures, 'fetched' | 'pending'>,
): string[] {
  const rows: (readonly [string, number])[] = [
    ['exported', counts.exported],
    ...(counts.carried === 0 ? [] : [['carried', counts.carried] as const]),
    ['missing', counts.missing],
    ['invalid', counts.invalid],
    ['duplicate', counts.duplicate],
    ['failed', counts.failed],
    ...(pending === 0 ? [] : [['pending', pending] as const]),
  ];
  const width = count(counts.read).length;
  const line = (sign: string, name: string, value: number): string =>
    `  ${sign} ${name.padEnd(10)} ${count(value).padStart(width)}`;
  return [
    line(' ', 'read', counts.read),
    ...rows.map(([name, value], index) => line(index === 0 ? '=' : '+', name, value)),
    ...(fetched === 0
      ? []
      : [`    of which ${count(fetched)} ${fetched === 1 ? 'is' : 'are'} fetched and paid, and not written yet`]),
  ];
}
