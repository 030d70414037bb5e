import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const limits = new URL('../../dist/cli/heap-limits.js', import.meta.url);

/** Keeps enough alive for a while that V8 wants a larger young generation, and prints how large it was in MiB. */
const script = `
import { setTimeout as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import * as limits from ${JSON.stringify(limits.href)};
for (const name of process.argv.slice(1)) limits[name]();
const kept = [];
let most = 0;
for (let round = 0; round < 700; round += 1) {
  kept[round % 100] = Array.from({ length: 2000 }, (_, n) => ({ n }));
  await turn(1);
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  most = Math.max(most, young.space_size);
}
console.log(most / 1024 / 1024);
`;

async function largestYoungMiB(...called: string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, ...called]);
  return Number(stdout);
}

describe('the young generation of V8', () => {
  it('stays at 16 MiB on one thread, and may grow further on several', async () => {
    const [small, grown, usual] = await Promise.all([
      largestYoungMiB('keepYoungSmall'),
      largestYoungMiB('keepYoungSmall', 'letHeapsGrow'),
      largestYoungMiB(),
    ]);
    expect(small).toBeLessThan(17);
    expect(usual).toBeGreaterThan(20);
    expect(grown).toBeGreaterThan(20);
  });
});
