import type { Job } from '../../../core/job/job-schema.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { shownWord } from '../../../lib/addresses/shown-address.ts';
import type { Shard } from '../../../wings/fleet/index.ts';
import type { CommandFlag } from '../../command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const shardFlag: CommandFlag = {
  name: 'shard',
  value: '[i/N]',
  about:
    'begin at slice i·slices/N, from 0; /N takes i from JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX; without a value N is AWS_BATCH_JOB_ARRAY_SIZE',
  standard: '0/1',
};

/** What stands behind `--shard`; undefined where the flag is not given. @throws {ExportError} `usage` */
export function shardOf(text: string | undefined, environment: Environment): Shard | undefined {
  if (text === undefined) return undefined;
  const [, i = '', n = ''] = /^(\d*)\/(\d+)$/.exec(text) ?? [];
  if (text !== '' && n === '') throw wrong(`--shard must be i/N or /N, not "${shownWord(text)}"`);
  const count = numberOf(n === '' ? environment['AWS_BATCH_JOB_ARRAY_SIZE'] : n);
  if (count === undefined || count === 0) throw wrong('--shard needs the number of workers: --shard /N');
  const index = numberOf(
    i === '' ? (environment['JOB_COMPLETION_INDEX'] ?? environment['AWS_BATCH_JOB_ARRAY_INDEX']) : i,
  );
  if (index === undefined) {
    throw wrong('--shard has no number, and neither JOB_COMPLETION_INDEX nor AWS_BATCH_JOB_ARRAY_INDEX is set');
  }
  if (index < count) return { index, count };
  throw wrong(`--shard ${index}/${count}: shards are counted from 0, so the last one is ${count - 1}/${count}`);
}

/** @throws {ExportError} `usage` for a budget that each of several machines would have for itself */
export function requireSharedBudget({ budget, fleet }: Job, { count }: Pick<Shard, 'count'> = { count: 1 }): void {
  const name = (['creditsPerDay', 'creditsPerSecond'] as const).find((each) => budget[each] !== undefined);
  if (count === 1 || name === undefined || fleet.database !== undefined) return;
  throw new ExportError(
    'usage',
    `budget.${name} would apply to each machine separately, and there are ${count} workers`,
    {
      todo: 'Set fleet.database (--fleet): all workers then share the budget.',
    },
  );
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function wrong(message: string): ExportError {
  return new ExportError('usage', message, { todo: 'See asset-export work --help.' });
}
