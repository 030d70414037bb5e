import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import type { ExportContext } from '../../../src/core/run/export-context.ts';
import { readRunLines, lastRunOf } from '../../../src/core/run/history/run-history.ts';
import { runLineText } from '../../../src/core/run/history/run-lines.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { night } from '../../support/nights.ts';
import { runSpan } from '../../support/run-lines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 130 }, (_, n) => generatedId(4, n));

it('a night begins with as many calls at once as the last run of its base found', async () => {
  const [first, second] = [await tempFolder(), await tempFolder()];
  const records = ids.map(generatedRecord);
  const flags = { format: 'csv', concurrency: 'auto', 'ids-per-call': '5' };
  await night({ day: 0, records, ids, out: first, flags: { ...flags, base: 'none' } });
  appendFileSync(join(first, 'runs.jsonl'), runLineText([runSpan({ t: 9000, callsAtOnce: 30 })]));
  const limits: number[] = [];
  const listener: ExportContext['listener'] = (event) => {
    if (event.kind === 'limit') limits.push(event.calls);
  };
  const next = { day: 30, records, ids, out: second, context: { listener } };
  await night({ ...next, flags: { ...flags, base: first } });
  expect(lastRunOf(await readRunLines(localDisk, second))?.start.concurrency).toBe(30);
  expect(limits[0]).toBeGreaterThanOrEqual(30);
});
