import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fieldRows } from './field-rows.ts';
import { methodRows } from './method-rows.ts';
import { practiceRows } from './practice-rows.ts';
import { openTarget, type Target } from './target.ts';

/**
 * Plain HTTP requests to any server with this interface. Without an environment it is the service of this project, on
 * records that have every field; ASSET_SERVICE_URL, ASSET_SERVICE_KEY and ASSET_SERVICE_IDS (ids that exist there,
 * separated by commas) point it at another, whose calls cost credits. There, rows of `practice` report and do not fail.
 */
describe('conformance of the service', () => {
  let target: Target & { close(): Promise<void> };
  const table: string[] = [];
  beforeAll(async () => {
    target = await openTarget();
  });
  afterAll(async () => {
    await target.close();
    process.stdout.write(
      `\nconformance of ${target.isOwn ? 'the service of this project' : target.url}\n${table.join('\n')}\n`,
    );
  });

  const rows = [...fieldRows, ...methodRows, ...practiceRows];
  it.each(rows.map((row) => [`${row.source}: ${row.rule}`, row] as const))('%s', async (_, { source, rule, check }) => {
    const note = (verdict: string) => table.push(`${verdict.padEnd(8)}  ${source.padEnd(15)}  ${rule}`);
    try {
      const verdict = await check(target);
      note(verdict);
      if (target.isOwn) expect(verdict).toBe('kept');
    } catch (error) {
      const binds = target.isOwn || source !== 'practice';
      note(binds ? 'BROKEN' : 'differs');
      if (binds) throw error;
    }
  });
});
