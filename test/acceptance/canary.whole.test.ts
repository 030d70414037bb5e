import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { loadFaults, startService } from '../../src/practice-service.ts';
import { canariesIn, canaryKey, filesWithCanary } from '../cases/canary.ts';
import { caseFolders, casesFolder } from '../cases/case-folder.ts';
import { runsAll } from '../support/lane.ts';
import { startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sampled } from '../model/support/sample.ts';

/** Cases that bring the key near a message, each for another reason. */
const telling = [
  ...['calm', 'unverified-collections', 'one-id-spoils-its-call', 'echoed-key', 'echoed-key-in-a-refusal'],
  ...['bad-key', 'forbidden-key', 'key-of-somebody-else', 'nobody-listens', 'redirect-307', 'reset-for-good'],
  ...['html-with-200', 'malformed-json', 'hang-for-good', 'day-credits-gone', 'cut-gzip', 'status-500-with-json'],
];

const all = caseFolders().filter(({ name }) => telling.includes(name));
const few = all.filter(({ name }) =>
  ['calm', 'echoed-key', 'bad-key', 'nobody-listens', 'reset-for-good'].includes(name),
);

describe.each([
  { from: 'file', cases: runsAll ? all : few },
  { from: 'environment', cases: sampled(few, 3) },
])('the key from the $from', ({ from, cases }) => {
  // Promise, Nothing leaked: The program writes the key nowhere, whatever the service echoes
  it.each(cases)('is in no byte that the program leaves: $name', async ({ path, expected }) => {
    const work = await tempFolder();
    for (const name of ['job.yaml', 'ids.txt']) cpSync(join(casesFolder, name), join(work, name));
    cpSync(path, work, { recursive: true });
    const ids = readFileSync(join(work, 'ids.txt'), 'utf8').trim().split('\n');
    writeFileSync(join(work, 'assets.jsonl'), `${ids.map(generatedRecord).join('\n')}\n`);
    const faults = join(work, 'faults.yaml');
    const service = await startService({
      assets: [join(work, 'assets.jsonl')],
      host: '127.0.0.1',
      port: 0,
      clock: systemClock,
      apiKeys: [expected.service?.otherKey === true ? 'another-key' : canaryKey],
      ...(existsSync(faults) ? { faults: await loadFaults(faults) } : {}),
    });
    const keyFile = join(work, 'key');
    if (from === 'file') writeFileSync(keyFile, `${canaryKey}\n`);
    mkdirSync(join(work, 'state'));
    const flags = Object.entries({ ...expected.flags, retries: 1 }).map(
      ([name, value]) => `--${name}=${String(value)}`,
    );
    const { child, ended } = startProgram(
      ['run', 'job.yaml', '--log-level=trace', '--json', ...(from === 'file' ? ['--api-key-file=key'] : []), ...flags],
      {
        cwd: work,
        environment: {
          URL: expected.service?.url ?? service.url,
          OUT: 'out',
          ASSET_EXPORT_STATE: join(work, 'state'),
          ...(from === 'file' ? {} : { ASSET_EXPORT_API_KEY: canaryKey }),
        },
      },
    );
    const commandLine = readFileSync(`/proc/${String(child.pid)}/cmdline`);
    const { exit, stdout, stderr } = await ended;
    await service.close();
    expect(exit, stderr).toBeTypeOf('number');
    expect(exit, stderr).not.toBe(1);
    expect(stderr).toContain('"level":"trace"');
    for (const name of ['key', 'faults.yaml']) rmSync(join(work, name), { force: true });
    for (const left of [commandLine, stdout, stderr]) expect(canariesIn(left)).toEqual([]);
    expect(filesWithCanary(work)).toEqual([]);
  });
});
