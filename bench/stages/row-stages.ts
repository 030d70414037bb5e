import { tables } from '../../src/core/records/columns.ts';
import { createDriftCounter } from '../../src/core/records/drift.ts';
import type { ShapedTable } from '../../src/core/records/shape-table.ts';
import { parseAnswer } from '../../src/core/client/wire/parse-answer.ts';
import { jobSchema } from '../../src/core/job/job-schema.ts';
import type { Batch } from '../../src/core/ids/batch-ids.ts';
import { type FlatBatch, flattenBatch } from '../../src/core/work/flatten-batch.ts';
import { tablesOf } from '../../src/core/work/tables-of.ts';
import { clientOf, type Exchange, forTables, fetchedOf } from './prepared.ts';
import type { Stage } from './stage.ts';

export interface RowStages {
  readonly stages: readonly Stage[];
  /** The rows of every table, and the raw lines. */
  readonly flat: readonly FlatBatch[];
}

/** From the bytes of answers to rows: once for `assets` alone, once for all tables and raw lines. */
export async function rowStages(batches: readonly Batch[], exchanges: readonly Exchange[]): Promise<RowStages> {
  const assets = await rowsFor(['assets'], { batches, exchanges });
  const all = await rowsFor(
    tables.map(({ name }) => name),
    { batches, exchanges },
  );
  return {
    stages: [
      { name: 'parse, check, flatten', kind: 'csv', run: assets.parse },
      { name: 'match by id', kind: 'csv', run: assets.match },
      { name: 'rows of a part', kind: 'csv', run: assets.flatten },
      { name: 'parse, check, flatten for all tables', kind: 'more', run: all.parse },
      { name: 'rows of a part, all tables and raw', kind: 'more', run: all.flatten },
    ],
    flat: all.flatten(),
  };
}

async function rowsFor(
  names: readonly string[],
  { batches, exchanges }: { batches: readonly Batch[]; exchanges: readonly Exchange[] },
) {
  const tables = shapedTables(names);
  const planned = forTables(exchanges, tables);
  const client = clientOf(planned);
  const slices = await fetchedOf(batches, client);
  const options = { tables, raw: names.length > 1, sources: [''], drift: createDriftCounter(), fetchedAtUs: 0 };
  return {
    parse: () => {
      for (const { call, body } of planned) parseAnswer(body, call);
    },
    match: async () => {
      await fetchedOf(batches, client);
    },
    flatten: () => slices.map((slice) => flattenBatch(slice, options)),
  };
}

function shapedTables(names: readonly string[]): ShapedTable[] {
  const job = jobSchema.parse({
    ids: { from: 'ids.txt' },
    service: { url: 'http://127.0.0.1' },
    output: { dir: 'out', tables: names },
  });
  return tablesOf(job, { startedAtMs: 0 });
}
