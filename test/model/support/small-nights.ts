import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetCall } from '../../../src/core/client/asset-client.ts';
import { dayMs } from '../../../src/lib/clock.ts';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { earlierAnswer, type SmallRun } from './small-export.ts';

const startMs = Date.UTC(2026, 10, 20, 2);
const flags = { tables: 'assets,creators,changes', 'missing-after': '1d', 'max-age': '2d' };

/** Ids of the night before that of the small export: some of those are new, and one of these is not listed any more. */
export function writeEarlierIds(folder: string): string {
  const path = join(folder, 'earlier.txt');
  const known = [...Array.from({ length: 22 }, (_, n) => generatedId(9, n)), generatedId(9, 99)];
  writeFileSync(path, `${known.join('\n')}\n`);
  return path;
}

/** The first night, with records as they were before. */
export function firstNight(out: string): SmallRun {
  const openWire = () => ({
    ask: async (call: AssetCall) => earlierAnswer(call),
    close: async () => undefined,
  });
  return { startMs, flags: { ...flags, out, base: 'none' }, context: { openWire } };
}

/** The second one: stale rows are requested up to a limit, others are carried. */
export function secondNight(base: string, run: SmallRun): SmallRun {
  const refreshed = { ...flags, base, 'base-credits': '320', ...run.flags };
  return { startMs: startMs + 2 * dayMs, ...run, flags: refreshed };
}
