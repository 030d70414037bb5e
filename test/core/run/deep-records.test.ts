import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { parseJobFile } from '../../../src/core/job/parse-job-file.ts';
import { night } from '../../support/nights.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 20 }, (_, n) => generatedId(4, n));

/** The record holds a value so many levels deep; the record itself is one of them. */
function deep(id: string, levels: number, open: string, close: string): string {
  const value = `${open.repeat(levels - 1)}1${close.repeat(levels - 1)}`;
  return generatedRecord(id).replace(/^\{/, () => `{"deep":${value},`);
}

it.each([
  ['lists', '[', ']'],
  ['objects', '{"a":', '}'],
])('a record that is nested deeper than 1,000 levels ends as failed, with that reason: %s', async (_, open, close) => {
  const levels = [50, 101, 1000, 1001, 20_000];
  const records = ids.map((id, at) =>
    at < levels.length ? deep(id, levels[at] ?? 1, open, close) : generatedRecord(id),
  );
  const out = await tempFolder();
  const { account } = await night({ day: 0, records, ids, out, flags: { format: 'csv', retries: '0' } });
  expect(account.counts).toMatchObject({ exported: 18, failed: 2 });
  const lines = readFileSync(join(out, 'unexported/part-00000.csv'), 'utf8').trim().split('\n').slice(1);
  expect(lines.map((line) => line.split(',').slice(0, 1)[0])).toEqual([ids[3], ids[4]]);
  for (const line of lines) expect(line).toContain('the record is nested deeper than 1000 levels');
});

it.each(['[', '{a: ', '- ', '? '])('a job file that is nested too deep is a mistake: %s', (open) => {
  expect(() => parseJobFile(`ids: \n  ${open.repeat(20_000)}`, 'job.yaml', {})).toThrow(/^job\.yaml/);
});
