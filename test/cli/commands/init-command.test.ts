import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { jobJsonSchema } from '../../../src/core/job/job-fields.ts';
import { jobTemplate } from '../../../src/core/job/job-template.ts';
import { loadJob, type LoadedJob } from '../../../src/core/job/load-job.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { askQuestions } from '../../../src/cli/commands/init/init-command.ts';

function load(folder: string, file = 'job.yaml'): LoadedJob {
  return loadJob({ file, flags: {}, environment: {}, folder });
}

describe('init', () => {
  // Promise, The first hour: `init` overwrites nothing, shows no typed key, and keeps its key file for the owner alone
  it('writes a job file for editors, its schema, what git ignores, and a key file that only the owner reads', async () => {
    const cwd = await tempFolder();
    const { exit, stdout } = await runHere(['init', 'mine', '--yes'], { cwd });
    expect(exit).toBe(0);
    const folder = join(cwd, 'mine');
    expect(readdirSync(folder).sort()).toEqual(['.gitignore', 'job.schema.json', 'job.yaml', 'secrets']);
    expect(statSync(join(folder, 'secrets/service-key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, 'job.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.\/job\.schema\.json\n/,
    );
    expect(JSON.parse(readFileSync(join(folder, 'job.schema.json'), 'utf8'))).toEqual(jobJsonSchema());
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('/secrets/\n/out/\n');
    expect(load(folder).job).toMatchObject({
      ids: { from: ['ids/*.txt'] },
      service: { url: 'https://service.example', apiKeyFile: join(folder, 'secrets/service-key') },
      output: { dir: join(folder, 'out/export') },
    });
    expect(stdout).toContain('put the API key into mine/secrets/service-key\n');
  });

  it('refuses a list that plan would refuse, and one with two columns of ids until one is named', async () => {
    const cwd = await tempFolder();
    const [one = '', two = ''] = ['A', 'B'].map((letter) => letter.repeat(43) + 'C');
    writeFileSync(join(cwd, 'two.csv'), `wallet,token\n${one},${two}\n`);
    writeFileSync(join(cwd, 'page.txt'), '<!doctype html><p>log in</p>');
    const flags = (ids: string) => ['init', ids, '--yes', '--ids', ids, '--url', 'https://there.example'];
    const refused = await runHere(flags('two.csv'), { cwd });
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toContain('two.csv has 2 columns of ids: "wallet" and "token"\n');
    expect(refused.stderr).toContain('--id-column wallet or --id-column token');
    expect((await runHere(flags('page.txt'), { cwd })).stderr).toContain('an HTML page');
    expect(readdirSync(cwd).sort()).toEqual(['page.txt', 'two.csv']);
    const named = [...flags('two.csv'), '--id-column', 'token'];
    named[1] = 'mine';
    expect(await runHere(named, { cwd })).toMatchObject({ exit: 0 });
    expect(load(join(cwd, 'mine')).job.ids).toMatchObject({ from: ['../two.csv'], column: 'token' });
    expect(await runHere(['plan', 'mine/job.yaml'], { cwd })).toMatchObject({ exit: 0 });
  });

  it.each(['nightly', 'backfill', 'spreadsheet'])(
    '--example %s writes that job of jobs/, for its folder',
    async (name) => {
      const cwd = await tempFolder();
      writeFileSync(join(cwd, 'list.txt'), `${'A'.repeat(43)}C\n`);
      const flags = ['--yes', '--ids', 'list.txt', '--url', 'https://there.example', '--credits-per-run', '900'];
      const { exit, stdout } = await runHere(['init', 'mine', '--example', name, ...flags], { cwd });
      expect({ exit, stdout }).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining('asset-export run mine/job.yaml') as string,
      });
      const folder = join(cwd, 'mine');
      const { output, service, ids, budget } = load(folder).job;
      expect(output.dir.startsWith(join(folder, 'out', name))).toBe(true);
      expect([service, ids, budget]).toMatchObject([
        { url: 'https://there.example', apiKeyFile: join(folder, 'secrets/service-key') },
        { from: ['../list.txt'] },
        { creditsPerRun: 900 },
      ]);
      const text = readFileSync(join(folder, 'job.yaml'), 'utf8');
      expect(text).toContain('asset-export run job.yaml');
      expect(text.split('\n').filter((line) => line.includes(' # ')).length).toBeGreaterThan(1);
      expect(await runHere(['plan', 'mine/job.yaml'], { cwd })).toMatchObject({ exit: 0 });
      expect((await runHere(['init', '--example', 'nightli'], { cwd })).stderr).toContain('did you mean nightly?');
    },
  );

  it('takes every flag of a job, with paths from the working directory', async () => {
    const cwd = await tempFolder();
    const flags = [
      '--ids',
      'ids/a.txt,-',
      '--ids',
      '/srv/b.csv',
      '--url',
      'embedded:records.jsonl',
      '--out',
      'mine/data',
    ];
    const more = ['--credits-per-day', '3_000_000', '--format', 'csv', '--compression', 'csv=gzip', '--exported-at'];
    expect(await runHere(['init', 'mine', ...flags, ...more], { cwd })).toMatchObject({ exit: 0 });
    const { job } = load(join(cwd, 'mine'));
    expect(job).toMatchObject({
      ids: { from: ['../ids/a.txt', '-', '/srv/b.csv'] },
      service: { url: `embedded:${join(cwd, 'records.jsonl')}` },
      budget: { creditsPerDay: 3_000_000 },
      output: { dir: join(cwd, 'mine/data'), formats: ['csv'], compression: { csv: 'gzip' }, exportedAt: true },
    });
    expect(readFileSync(join(cwd, 'mine/.gitignore'), 'utf8')).toBe('/secrets/\n/data/\n');
  });

  it('leaves out what the dialect says: the address, and a key where none is taken', async () => {
    const cwd = await tempFolder();
    const ids = ['--ids', 'ids.txt', '--yes'];
    const named = await runHere(['init', 'named', '--dialect', 'helius', ...ids], { cwd });
    expect(load(join(cwd, 'named')).job.service).toMatchObject({
      dialect: 'helius',
      url: 'https://mainnet.helius-rpc.com',
      apiKeyFile: join(cwd, 'named/secrets/service-key'),
    });
    expect(named.stdout).toContain('Next: put the API key into named/secrets/service-key\n');
    const keyless = await runHere(['init', 'keyless', ...ids], {
      cwd,
      environment: { ASSET_EXPORT_DIALECT: 'reference' },
    });
    const { service } = load(join(cwd, 'keyless')).job;
    expect(service).toMatchObject({ dialect: 'reference' });
    expect(service).not.toHaveProperty('apiKeyFile');
    expect(readdirSync(join(cwd, 'keyless')).sort()).toEqual(['.gitignore', 'job.schema.json', 'job.yaml']);
    expect(keyless.stdout).toContain('Next: set service.url in keyless/job.yaml\n      asset-export plan');
  });

  it('names the file of a dialect from the folder of the job', async () => {
    const cwd = await tempFolder();
    writeFileSync(join(cwd, 'mine.yaml'), 'like: helius\nurl: https://rpc.example\npath: /rpc?token={key}\n');
    expect(await runHere(['init', 'mine', '--yes', '--dialect', 'mine.yaml'], { cwd })).toMatchObject({ exit: 0 });
    const { service } = load(join(cwd, 'mine')).job;
    expect(service).toMatchObject({ dialect: join(cwd, 'mine.yaml'), url: 'https://rpc.example' });
  });

  it('overwrites nothing, and says what it kept', async () => {
    const cwd = await tempFolder();
    mkdirSync(join(cwd, 'secrets'));
    const own = ['.gitignore', 'job.yaml', 'secrets/service-key'];
    for (const name of own) writeFileSync(join(cwd, name), 'my own');
    const { exit, stdout } = await runHere(['init', '--yes'], { cwd });
    expect(exit).toBe(0);
    for (const name of own) expect(readFileSync(join(cwd, name), 'utf8')).toBe('my own');
    expect(stdout).toContain('kept  job.yaml: it exists already\nwrote job.schema.json\n');
    expect(stdout).toContain('kept  .gitignore: it exists already; it should ignore secrets/\n');
  });

  it.each([
    [['--url', 'x'], 'job.yaml exists already: --url would change nothing'],
    [['--concurrency', 'many'], '--concurrency'],
  ])('ends with 2 and writes nothing for %j', async (flags, message) => {
    const cwd = await tempFolder();
    if (flags[0] === '--url') writeFileSync(join(cwd, 'job.yaml'), '');
    const before = readdirSync(cwd);
    const { exit, stderr } = await runHere(['init', '--yes', ...flags], { cwd });
    expect(exit).toBe(2);
    expect(stderr).toContain(message);
    expect(readdirSync(cwd)).toEqual(before);
  });

  it('ends with 7 where it cannot write', async () => {
    const cwd = await tempFolder();
    writeFileSync(join(cwd, 'file'), '');
    const { exit, stderr } = await runHere(['init', 'file/deep'], { cwd });
    expect({ exit, stderr }).toMatchObject({ exit: 7, stderr: expect.stringContaining('cannot write') as string });
  });
});

// Promise, The first hour: The job file of `init` is valid, also with every commented field
it('a new job file stays a job when every field that is commented out is taken in', async () => {
  const folder = await tempFolder();
  const text = jobTemplate(new Map());
  const whole = text.replaceAll(/^( *)# (\w+: )/gm, '$1$2');
  expect(whole.split('\n').length).toBe(text.split('\n').length);
  expect(whole).toMatch(/^ {2}creditsPerDay: 3000000$/m);
  writeFileSync(join(folder, 'job.yaml'), whole);
  expect(load(folder).job.budget).toMatchObject({ creditsPerDay: 3_000_000, creditsPerSecond: 500 });
});

describe('the questions of init', () => {
  /** Types an answer whenever a question has been shown. */
  async function answered(answers: readonly string[], flags: readonly string[] = []) {
    const input = new PassThrough();
    const output = new PassThrough();
    const accepted: [string, string][] = [];
    let shown = '';
    let next = 0;
    output.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      if (/: (\u001b\[\d+G)?$/.test(shown) && next < answers.length) {
        const answer = `${answers[next++] ?? ''}\r`;
        setImmediate(() => input.write(answer));
      }
    });
    const key = await askQuestions({ stdin: input, stderr: output }, flags, async (flag, text) => {
      if (text === 'wrong') throw new ExportError('usage', `${flag} is wrong`);
      accepted.push([flag, text]);
      return text === 'two.csv' ? { flag: 'id-column', text: 'Which column: ', isNeeded: true } : undefined;
    });
    return { key, shown, accepted };
  }

  it('leave what flags answered, repeat what was answered wrong, and show no key', async () => {
    const { key, shown, accepted } = await answered(
      ['a.txt', 'wrong', '900', '', 'csv', '"canary"', 'canary-key'],
      ['url'],
    );
    expect(accepted).toEqual([
      ['ids', 'a.txt'],
      ['credits-per-day', '900'],
      ['format', 'csv'],
    ]);
    expect(shown).toContain('credits-per-day is wrong');
    expect(shown).toContain('the API key is in quotes');
    expect(shown).not.toContain('Address');
    expect(key).toBe('canary-key');
    expect(shown).not.toContain('canary');
  });

  it('ask for the column where a list has two of ids, until it is named', async () => {
    const { shown, accepted } = await answered(['two.csv', '', 'wrong', 'token', '', '', '', '', 'key'], []);
    expect(accepted.slice(0, 2)).toEqual([
      ['ids', 'two.csv'],
      ['id-column', 'token'],
    ]);
    expect(shown.split('Which column: ')).toHaveLength(4);
  });

  it('of a list on the command line too: the column is asked for, and named in the job', async () => {
    const cwd = await tempFolder();
    const [one = '', two = ''] = ['A', 'B'].map((letter) => letter.repeat(43) + 'C');
    writeFileSync(join(cwd, 'two.csv'), `wallet,token\n${one},${two}\n`);
    const line = ['init', 'mine', '--ids', 'two.csv', '--url', 'https://there.example', '--out', 'out'];
    const typed = ['token', '', '', ''];
    const { exit, stderr } = await runHere(line, { cwd, typed });
    expect({ exit, stderr }).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('two.csv has 2 columns') as string,
    });
    expect(load(join(cwd, 'mine')).job.ids.column).toBe('token');
  });

  it('write nothing after Ctrl-C', async () => {
    await expect(answered(['a.txt', '\u0003'])).rejects.toMatchObject({ exit: 'interrupted' });
  });
});
