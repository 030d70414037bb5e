import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';
import type { ExportAccount } from './export-outcome.ts';

/** Why a complete export is not good enough for its job (`notTolerated`), or undefined when it is. */
export function intolerable(
  account: ExportAccount,
  tolerance: Job['tolerance'],
  onDrift: Job['output']['onDrift'] = 'keep',
): ExportError | undefined {
  return overLimit(account, tolerance) ?? (onDrift === 'fail' ? drifted(account) : undefined);
}

/** The records are not as the specification says, and the job wants to know. */
function drifted({ drift }: ExportAccount): ExportError | undefined {
  if (drift.length === 0) return undefined;
  const times = drift.reduce((sum, { count }) => sum + count, 0);
  const some = drift.slice(0, 3).map(({ kind, path, sampleId }) => `${kindWords[kind]} ${path} (asset ${sampleId})`);
  const more = drift.length > some.length ? `, and ${drift.length - some.length} more paths` : '';
  return new ExportError(
    'notTolerated',
    `records differ from the specification ${times} times, and output.onDrift is fail: ${some.join(', ')}${more}`,
    {
      todo: 'The files are complete, and nothing is lost: manifest.json in the output folder lists every path under drift.',
    },
  );
}

const kindWords = { misfit: 'misfit at', unknownField: 'unknown field', unknownValue: 'unknown value at' } as const;

function overLimit({ counts }: ExportAccount, tolerance: Job['tolerance']): ExportError | undefined {
  const asked = counts.exported + counts.missing + counts.failed;
  const over = [
    { name: 'missing', value: counts.missing, limit: tolerance.maxMissing, field: 'tolerance.maxMissing' },
    { name: 'failed', value: counts.failed, limit: tolerance.maxFailed, field: 'tolerance.maxFailed' },
  ].filter(({ value, limit }) => isOver(value, limit, asked));
  if (over.length === 0) return undefined;
  const words = over.map(({ name, value, limit, field }) => `${value} ids are ${name}, and ${field} allows ${limit}`);
  return new ExportError('notTolerated', words.join('; '), {
    todo: 'The files are complete. unexported/ in the output folder lists these ids with the reason.',
  });
}

/** A limit is `20` ids, or `0.5%` of the ids that were asked for: told exactly, as 0.29 * 100 is less than 29. */
function isOver(value: number, limit: string | number, asked: number): boolean {
  const [, whole, decimals = ''] = /^(\d+)(?:\.(\d+))?%$/.exec(String(limit)) ?? [];
  if (whole === undefined) return value > Number(limit);
  const hundred = 100n * 10n ** BigInt(decimals.length);
  return BigInt(value) * hundred > BigInt(whole + decimals) * BigInt(asked);
}
