import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { commandNamed, otherFlags } from '../../src/cli/command-named.ts';
import { countOf } from '../../src/cli/flag-values.ts';
import { parseArguments } from '../../src/cli/parse-arguments.ts';
import { jobFields } from '../../src/core/job/job-fields.ts';
import { loadJob } from '../../src/core/job/load-job.ts';
import { numberIn } from '../../src/lib/format-text.ts';
import { tempFolder } from '../support/temp-folder.ts';

const written = ['3000000', '3_000_000', '3,000,000', '3000k', '3M', '3m', ' 3M '];
const unread = ['3.000.000', '3.000', '3 000 000', '3,00', '3,000,00', '3MB', 'M', '', '3e6', '0x10', '1,2'];
const least = { ids: 'ids.txt', url: 'http://127.0.0.1:1', out: 'new' };

describe('numbers', () => {
  it.each(written)('%j is 3,000,000 in every flag and variable', async (text) => {
    expect(numberIn(text)).toBe(3_000_000);
    for (const flag of ['credits-per-day', 'credits-per-run', 'rows-per-part']) {
      const name = jobFields.find((field) => field.flag === flag)?.path.split('.')[1] ?? '';
      const job = loadJob({ flags: { ...least, [flag]: text } }).job;
      expect({ ...job.budget, ...job.output }).toHaveProperty(name, 3_000_000);
    }
    const { job } = loadJob({ flags: least, environment: { ASSET_EXPORT_CREDITS_PER_DAY: text } });
    expect(job.budget.creditsPerDay).toBe(3_000_000);
    const serve = await commandNamed(commands, 'serve').load();
    expect(countOf(parseArguments('serve', serve, ['--max-ids', text]), 'max-ids')).toBe(3_000_000);
  });

  it('a fraction of a thousand or a million is exact', () => {
    expect(['1.1M', '0.5k', '0.125', '-3', '+4'].map(numberIn)).toEqual([1_100_000, 500, 0.125, -3, 4]);
  });

  it.each(unread)('%j is refused', (text) => {
    expect(numberIn(text)).toBeUndefined();
    expect(() => loadJob({ flags: { ...least, 'credits-per-day': text } })).toThrow('--credits-per-day must be a ');
  });

  it('what can be a number is refused with the form to write', async () => {
    const of = (text: string) => () => loadJob({ flags: { ...least, 'credits-per-day': text } });
    expect(of('3.000.000')).toThrow('not "3.000.000"; write 3000000');
    const folder = await tempFolder();
    writeFileSync(join(folder, 'job.yaml'), 'budget: { creditsPerDay: 3M }\n');
    expect(() => loadJob({ file: 'job.yaml', folder, flags: least })).toThrow('not "3M"; write 3000000');
  });
});

describe('names', () => {
  it.each([
    ['run', '--formats', 'format'],
    ['run', '--table', 'tables'],
    ['plan', '--column', 'columns'],
    ['rebuild', '--formats', 'format'],
    ['schema', '--tables', 'table'],
    ['run', '--id', 'ids'],
    ['rehearse', '--thread', 'threads'],
    ['verify', '--jobs', undefined],
  ])('%s %s', async (name, given, flag) => {
    const command = await commandNamed(commands, name).load();
    const words = Array.from({ length: command.words?.least ?? 0 }, () => 'word');
    const parse = (...argv: readonly string[]) => parseArguments(name, command, [...words, ...argv]);
    if (flag === undefined) {
      expect(() => parse(given, 'x')).toThrow('unknown flag');
      return;
    }
    expect(parse(given, 'x').texts(flag)).toEqual(['x']);
    expect(parse(`${given}=x`).texts(flag)).toEqual(['x']);
  });

  it('-f names --format', () => {
    expect(otherFlags['f']).toContain('--format');
  });
});
