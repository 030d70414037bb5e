import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { outputPattern, shellBlocks, steadyText } from './paper-blocks.ts';
import { type ReaderFolder, readerFolder, runBlock } from './reader-folder.ts';
import { sampled } from '../model/support/sample.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const papers = sampled(['docs/buckets.md', 'docs/fleet.md'], 2);

describe.each(papers)('the commands of %s', (paper) => {
  const blocks = shellBlocks(paper, readFileSync(join(root, paper), 'utf8'));
  let service: RunningService;
  let server: FaultyServer;
  let folder: Awaited<ReturnType<typeof keptFolder>>;
  let reader: ReaderFolder;

  beforeAll(async () => {
    const assets = [join(root, 'data/assets.jsonl.gz')];
    service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
    server = await startFaultyServer(serveS3(new BucketOfTests(), 'secret'));
    folder = await keptFolder();
    reader = await readerFolder(folder.path, service.url);
  });

  afterAll(async () => {
    await service.close();
    await server.stop();
    await folder.remove();
  });

  it('are there', () => {
    expect(blocks).not.toEqual([]);
  });

  it.each(blocks.map((block) => [block.place, block] as const))(
    'at %s do what is shown',
    async (_, block) => {
      const environment = {
        AWS_ACCESS_KEY_ID: 'key',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_REGION: 'us-east-1',
        AWS_EC2_METADATA_DISABLED: 'true',
        ASSET_EXPORT_OUT_ENDPOINT: server.endpoint,
      };
      const exports = Object.entries(environment).map(([name, value]) => `export ${name}=${value}\n`);
      const { exit, output } = await runBlock(`${exports.join('')}${block.script}`, reader, block.onTerminal);
      expect(exit, output).toBe(block.exit);
      if (block.output !== undefined) expect(`${steadyText(output)}\n`).toMatch(outputPattern(block.output));
    },
    60_000,
  );
});
