import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { readChangesFile, type RunningService, startService } from '../../src/practice-service.ts';
import { clockAt } from '../support/clock-at.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { outputPattern, shellBlocks, steadyText } from './paper-blocks.ts';
import { type ReaderFolder, readerFolder, runBlock, withService } from './reader-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const paper = 'docs/nights.md';
const text = readFileSync(join(root, paper), 'utf8');

/** The files that the paper shows, by their names. */
const files = [...text.matchAll(/^```yaml\n# (\S+\.yaml)\n([\s\S]*?)^```$/gm)];

/** The blocks, each on the day of the heading above it. */
const blocks = shellBlocks(paper, text).map((block) => {
  const line = Number(block.place.split(':')[1]);
  const before = text.split('\n').slice(0, line).join('\n');
  return { ...block, day: [...before.matchAll(/^### \w+, (\S+)$/gm)].at(-1)?.[1] ?? '' };
});

describe(`the week of ${paper}`, () => {
  let service: RunningService;
  let folder: Awaited<ReturnType<typeof keptFolder>>;
  let reader: ReaderFolder;
  let nowMs = 0;

  beforeAll(async () => {
    folder = await keptFolder();
    reader = await readerFolder(folder.path, '');
    for (const [, name = '', content = ''] of files) await writeFile(join(reader.path, name), content);
    service = await startService({
      assets: [join(reader.path, 'data/assets.jsonl.gz')],
      host: '127.0.0.1',
      port: 0,
      clock: { ...systemClock, now: () => nowMs },
      changes: await readChangesFile(join(reader.path, 'changes.yaml')),
    });
    const job = join(reader.path, 'nights.yaml');
    await writeFile(job, withService(readFileSync(job, 'utf8'), service.url));
  });

  afterAll(async () => {
    await service.close();
    await folder.remove();
  });

  it('has seven nights', () => {
    expect(new Set(blocks.map(({ day }) => day)).size).toBe(7);
  });

  it.each(blocks.map((block) => [block.place, block] as const))(
    'does at %s what is shown',
    async (_, block) => {
      nowMs = Date.parse(`${block.day}T02:00:00Z`);
      const clock = Object.entries(clockAt(nowMs)).map(([name, value]) => `export ${name}='${value}'\n`);
      const { exit, output } = await runBlock(`${clock.join('')}${block.script}`, reader, block.onTerminal);
      expect(exit, output).toBe(block.exit);
      if (block.output !== undefined) expect(`${steadyText(output)}\n`).toMatch(outputPattern(block.output));
    },
    60_000,
  );
});
