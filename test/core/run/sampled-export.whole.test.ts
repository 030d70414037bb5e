import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { writeInput } from '../ids/read/id-files.ts';
import { readIds } from '../../../src/core/ids/read/read-ids.ts';
import { estimateText } from '../../../src/places/export/export-facts.ts';
import { runsAll } from '../../support/lane.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** The ids that a sample draws of a list. */
async function drawn(ids: readonly string[], sample: string): Promise<string[]> {
  const found: string[] = [];
  const inputs = [await writeInput('ids.txt', ids.join('\n'))];
  for await (const { entries, hashes } of readIds(inputs, { sample })) {
    expect(hashes.length).toBe(4 * entries.length);
    for (let index = 0; index < entries.length; index += 1) found.push(entries.at(index).text);
  }
  return found;
}

describe('a sample', () => {
  const many = runsAll ? 1_000_000 : 100_000;
  const ids = Array.from({ length: many }, (_, n) => generatedId(7, n));

  it('of 1 % draws the same ids whatever their order, and about that share', async () => {
    const first = await drawn(ids, '1%');
    const second = await drawn(ids.toReversed(), '1%');
    expect(second.toReversed()).toEqual(first);
    // Four standard deviations; of a million ids less than 2 % of the share.
    expect(Math.abs(first.length / many - 0.01)).toBeLessThan(4 * Math.sqrt((0.01 * 0.99) / many));
    if (runsAll) expect(Math.abs(first.length / many - 0.01)).toBeLessThan(0.0002);
  });

  it('of a count draws about so many, and more hold those of fewer', async () => {
    const list = ids.slice(0, 20_000);
    const [few, more] = [await drawn(list, '1000'), await drawn(list, '25%')];
    expect(Math.abs(few.length - 1000)).toBeLessThan(130);
    const within = new Set(more);
    expect(few.filter((id) => !within.has(id))).toEqual([]);
    expect(await drawn(list, '100%')).toEqual(list);
    expect(await drawn(['x', ...list.slice(0, 9)], '100%')).toEqual(list.slice(0, 9));
  });

  it('says counts of all ids with their interval', () => {
    expect(estimateText(52, '1%')).toBe('5,200 ± 1,407');
    expect(estimateText(52, '100%')).toBe('52 ± 0');
    expect(estimateText(52, '10000')).toBeUndefined();
    expect(estimateText(52, null)).toBeUndefined();
  });
});

describe('an export of a sample', () => {
  const ids = Array.from({ length: 200 }, (_, n) => generatedId(8, n));

  async function root() {
    const cwd = await tempFolder();
    writeFileSync(join(cwd, 'ids.txt'), ids.join('\n'));
    writeFileSync(join(cwd, 'assets.jsonl'), ids.map(generatedRecord).join('\n'));
    const environment = { ASSET_EXPORT_STATE: join(cwd, 'state') };
    const job = ['--ids', 'ids.txt', '--url', 'embedded:assets.jsonl'];
    return { cwd, run: (...args: string[]) => runHere(args, { cwd, environment }), job };
  }

  it('says so everywhere, moves no latest, and is loaded only where that is allowed', async () => {
    const { cwd, run, job } = await root();
    const flags = [...job, '--out', 'nights/a', '--sample', '40%', '--format', 'parquet,jsonl'];
    expect((await run('plan', ...flags)).stdout).toContain('sample of 40 % (--sample)');
    const ran = await run('run', ...flags, '--latest');
    expect(ran.exit, ran.stderr).toBe(0);
    expect(ran.stdout).toContain('\n  sample of 40 % (--sample)\n');
    expect(existsSync(join(cwd, 'nights/latest'))).toBe(false);
    expect((await run('status', 'nights/a')).stdout).toContain('sample of 40 % (--sample)');
    expect((await run('verify', 'nights/a')).stdout).toContain('sample of 40 % (--sample): ');
    const again = await run('run', ...flags.with(-3, '41%'));
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('ids.sample was "40%"') as unknown });
    const { stdout: page } = await run('report', 'nights/a', '--profile', 'none', '--to', '-');
    expect(page).toMatch(
      /This export reads sample of 40 % \(--sample\)\. Of all ids, [12]\d\d ± \d\d would be exported/,
    );
    const refused = await run('load', 'nights/a', '--to', 'duckdb:a.duckdb');
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('--allow-sample') as unknown });
    expect((await run('load', 'nights/a', '--to', 'duckdb:a.duckdb', '--allow-sample')).exit).toBe(0);
  });

  it('is a base for the same sample alone', async () => {
    const { run, job } = await root();
    const first = await run('run', ...job, '--out', 'a', '--sample', '40%', '--base', 'none');
    expect(first.exit, first.stderr).toBe(0);
    const whole = await run('run', ...job, '--out', 'b', '--base', 'a');
    expect(whole).toMatchObject({ exit: 2, stderr: expect.stringContaining('it is a sample of 40 %') as unknown });
    const same = await run('run', ...job, '--out', 'c', '--sample', '40%', '--base', 'a');
    expect(same.exit, same.stderr).toBe(0);
    expect(same.stdout).toContain('+ carried');
  });

  it.each([['0'], ['200%'], ['0%'], ['1.5'], ['-1'], ['some'], ['100.1%']])(
    'with --sample %s is refused before a call',
    async (sample) => {
      const { run, job } = await root();
      const { exit, stderr } = await run('run', ...job, '--out', 'a', `--sample=${sample}`);
      expect({ exit, stderr }).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('--sample must be') as unknown,
      });
    },
  );

  it('goes with no limit, and with no night of the whole list', async () => {
    const { run, job } = await root();
    const both = await run('run', ...job, '--out', 'a', '--sample', '1%', '--limit', '5');
    expect(both).toMatchObject({ exit: 2, stderr: expect.stringContaining('must not be given with limit') as unknown });
  });
});
