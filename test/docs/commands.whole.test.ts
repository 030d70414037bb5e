import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { sampled } from '../model/support/sample.ts';
import { outputPattern, shellBlocks, steadyText } from './paper-blocks.ts';
import { type ReaderFolder, readerFolder, runBlock } from './reader-folder.ts';

/** `npm test` types the README and every 6th page, from another one after each commit. */
const papers = [
  'README.md',
  ...sampled(
    [
      'docs/cli.md',
      'docs/job.md',
      'docs/output.md',
      'docs/report.md',
      'docs/credits.md',
      'docs/ids.md',
      'docs/lake.md',
      'docs/library.md',
      'docs/operations.md',
      'docs/observability.md',
      'docs/warehouses.md',
    ],
    6,
  ),
];
const root = fileURLToPath(new URL('../..', import.meta.url));

let service: RunningService;

beforeAll(async () => {
  service = await startService({
    assets: [join(root, 'data/assets.jsonl.gz')],
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
  });
});

afterAll(() => service.close());

describe.each(papers)('the commands of %s', (paper) => {
  const blocks = shellBlocks(paper, readFileSync(join(root, paper), 'utf8'));
  let folder: string;
  let reader: ReaderFolder;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'asset-export-papers-'));
    reader = await readerFolder(folder, service.url);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are there', () => {
    expect(blocks).not.toEqual([]);
  });

  // In order and in one folder, as a reader would type them.
  it.each(blocks.map((block) => [block.place, block] as const))('at %s do what is shown', async (_, block) => {
    const { exit, output } = await runBlock(block.script, reader, block.onTerminal);
    expect(exit, output).toBe(block.exit);
    if (block.output !== undefined) expect(`${steadyText(output)}\n`).toMatch(outputPattern(block.output));
  });
});
