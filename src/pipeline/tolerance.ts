import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';
import type { ExportAccount } from './export-outcome.ts';

/** Why a complete export is not good enough for its job (`notTolerated`), or undefined when it is. */
export function intolerable({ folder, counts }: ExportAccount, tolerance: Job['tolerance']): ExportError | undefined {
  const asked = counts.exported + counts.missing + counts.failed;
  const over = [
    { name: 'missing', value: counts.missing, limit: tolerance.maxMissing, field: 'tolerance.maxMissing' },
    { name: 'failed', value: counts.failed, limit: tolerance.maxFailed, field: 'tolerance.maxFailed' },
  ].filter(({ value, limit }) => value > limitOf(limit, asked));
  if (over.length === 0) return undefined;
  const words = over.map(({ name, value, limit, field }) => `${value} ids are ${name}, and ${field} allows ${limit}`);
  return new ExportError('notTolerated', words.join('; '), {
    todo: `The files are complete. ${folder}/unexported/ lists these ids with the reason.`,
  });
}

/** `20` ids, or `0.5%` of the ids that were asked for. */
function limitOf(limit: string | number, asked: number): number {
  const text = String(limit);
  return text.endsWith('%') ? (Number(text.slice(0, -1)) / 100) * asked : Number(text);
}
