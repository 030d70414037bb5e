import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runExport } from '../support/run-export.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

async function flagsOf(name: string): Promise<string[]> {
  const command = await commands.find((each) => each.name === name)?.load();
  return (command?.groups ?? []).flatMap(({ flags }) => flags.map((flag) => flag.name));
}

describe('plan', () => {
  it('takes every flag that run takes: one word of the line is changed, and it tells the bill', async () => {
    expect(await flagsOf('plan')).toEqual(expect.arrayContaining(await flagsOf('run')));
  });

  it('with --fresh tells what a run would cost that begins anew', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 50 });
    const service = await startGeneratedService();
    const flags = { ids, url: service.url, out: join(folder, 'out'), 'ids-per-call': '10', format: 'csv' };
    await runExport({ flags });
    const line = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const calls = async (...more: string[]): Promise<unknown> => {
      const { stdout } = await runProgram(['plan', ...line, '--state-dir', folder, '--json', ...more]);
      return (JSON.parse(stdout) as { calls: number }).calls;
    };
    expect(await calls()).toBe(0);
    expect(await calls('--fresh')).toBe(5);
    expect(await calls()).toBe(0);
  });

  it('tells a limit of a day that no call fits in from no limit', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
    const line = ['plan', '--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', '--out', 'out'];
    const planned = async (...more: string[]): Promise<string> =>
      (await runProgram([...line, ...more], { cwd: folder })).stdout;
    expect(JSON.parse(await planned('--json'))).toMatchObject({ days: null });
    expect(JSON.parse(await planned('--json', '--credits-per-day', '159'))).toMatchObject({ days: 'never' });
    expect(await planned('--credits-per-day', '159')).toContain('days          never: the limit of a day is below');
  });
});
