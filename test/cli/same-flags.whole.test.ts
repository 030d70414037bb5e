import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { endpointToName, sameLine } from '../../src/cli/flag-values.ts';
import { jobFlagGroups } from '../../src/cli/job-flags.ts';
import { parseArguments } from '../../src/cli/parse-arguments.ts';
import { rehearseCommand } from '../../src/cli/commands/rehearse-command.ts';
import { runCommand } from '../../src/cli/commands/run-command.ts';
import { nextText } from '../../src/cli/output/summary-text.ts';
import { loadJob } from '../../src/core/job/load-job.ts';

const jobFlags = jobFlagGroups().flatMap((group) => group.flags);

describe('the same flags for another command', () => {
  it.each([
    [['my job.yaml'], `asset-export run 'my job.yaml'`],
    [['job.yaml', '--missing-percent', '3', '--no-singles'], 'asset-export run job.yaml --no-singles'],
    [
      ['--ids', 'a b.txt', '--ids=-x.csv', '--out=-o', '--report'],
      `asset-export run --ids 'a b.txt' --ids=-x.csv --out=-o --report`,
    ],
    [['--rename', "id=asset's"], `asset-export run --rename 'id=asset'\\''s'`],
  ])('keep their values and quotes, and are read again as they were: %j', (argv, line) => {
    const args = parseArguments('rehearse', rehearseCommand, argv);
    expect(sameLine('run', args, jobFlags)).toBe(line);
    const words = execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' }).split('\0');
    expect(words.slice(0, 2)).toEqual(['asset-export', 'run']);
    const typed = parseArguments('run', runCommand, words.slice(2, -1));
    for (const { name } of jobFlags) expect(typed.value(name)).toEqual(args.value(name));
  });
});

describe('the line behind a run', () => {
  it('names the endpoint of the bucket, which verify does not read from the job', () => {
    const flags = {
      ids: 'ids.txt',
      url: 'https://service.example',
      out: 's3://bucket/a b',
      'out-endpoint': 'http://store',
    };
    const { job } = loadJob({ flags, environment: {}, folder: '/' });
    expect(nextText(job.output.dir, endpointToName(job, { env: {} }))).toBe(
      `Next: asset-export verify 's3://bucket/a b' --out-endpoint http://store`,
    );
    expect(endpointToName(job, { env: { ASSET_EXPORT_OUT_ENDPOINT: 'http://store' } })).toBeUndefined();
  });
});
