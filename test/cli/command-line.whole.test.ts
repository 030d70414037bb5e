import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jobFields } from '../../src/core/job/job-fields.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const records = join(root, 'data/assets.jsonl.gz');

describe('the program', () => {
  it('shows its help on stderr and fails without a command', async () => {
    const { exit, stdout, stderr } = await runProgram([]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain('asset-export <command> [flags]');
  });

  it.each([
    [['--help'], 'An export:\n  demo '],
    [['-h'], 'An export:\n  demo '],
    [['run', '--help'], 'Examples:\n  asset-export '],
    [['status', 'x', '-h'], 'Examples:\n  asset-export '],
    [['help', 'flags'], 'Ids:\n  --ids PATH '],
    [['help', 'exit-codes'], '# Exit codes'],
  ])('shows help on stdout for %j', async (args, words) => {
    const { exit, stdout, stderr } = await runHere(args);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toContain(words);
  });

  it.each(['--version', '-V'])('prints its version for %s', async (flag) => {
    expect((await runProgram([flag])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('prints the help of a command by either form, and behind that of the program all pages', async () => {
    expect(await runHere(['help', 'run'])).toEqual(await runHere(['run', '--help']));
    const { exit, stdout } = await runHere(['help']);
    expect(exit).toBe(0);
    expect(stdout.startsWith((await runHere(['--help'])).stdout)).toBe(true);
    expect(stdout).toMatch(/^ {2}operations +cron, systemd/m);
  });

  it('prints every field of a job with its flag, and pages of the documentation', async () => {
    const { stdout } = await runHere(['help', 'job']);
    for (const { path, flag } of jobFields) {
      expect(stdout).toMatch(new RegExp(`^ {2}${path.replaceAll('.', '[.]')}[^]*?\\(--${flag}\\)`, 'm'));
    }
    expect((await runHere(['help', 'service'])).stdout).toBe(readFileSync(join(root, 'docs/service.md'), 'utf8'));
    expect((await runHere(['help', 'rnu'])).stderr).toContain('did you mean run?');
  });

  it('shows no warning of a driver', async () => {
    const cwd = await tempFolder();
    const flags = ['--ids', '-', '--url', `embedded:${records}`, '--out', 'out', '--allow-none'];
    expect(await runHere(['run', ...flags], { cwd, stdin: '1'.repeat(32) })).toMatchObject({ exit: 0 });
    // It speaks no TLS, as PostgreSQL says it.
    const server = createServer((socket) => socket.once('data', () => socket.end('N'))).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const to = `postgres://user@127.0.0.1:${port}/db?sslmode=require`;
    const { stderr } = await runProgram(['load', 'out', '--to', to], { cwd });
    expect(stderr).toContain('does not support SSL');
    expect(stderr).not.toMatch(/warning/i);
  });

  // Promise, The first hour: A name that begins with a dash is shown as `./-x`
  it('shows a folder whose name begins with a dash as a command would read it', async () => {
    const cwd = await tempFolder();
    const flags = ['--ids', '-', '--url', `embedded:${records}`, '--out=-x', '--format', 'csv', '--allow-none'];
    const { exit, stderr } = await runHere(['run', ...flags], { cwd, stdin: '1'.repeat(32) });
    expect({ exit, stderr }).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('"next":"asset-export verify ./-x"') as string,
    });
    expect(await runHere(['verify', './-x'], { cwd })).toMatchObject({ exit: 0 });
  });

  it.each([
    [['statsu'], 'unknown command: statsu; did you mean status?'],
    [['rnu'], 'unknown command: rnu; did you mean run?'],
    [['resume'], 'unknown command: resume; did you mean run?'],
    [['-v'], 'unexpected flag -v\n  asset-export --version prints the version.'],
    [['ls'], 'unknown command: ls; did you mean status?'],
    [['frobnicate'], 'unknown command: frobnicate\n  Commands and pages of the docs: asset-export help'],
    [['exprot'], 'unknown command: exprot; did you mean run?'],
    [['docs'], 'unknown command: docs; did you mean help?'],
    [['help', 'docs'], 'unknown command: docs; did you mean help?'],
    [['help', 'operation'], 'unknown command: operation; did you mean operations?'],
    [['help', 'jobs'], 'unknown command: jobs; did you mean job?'],
    [
      ['run', 'job.yaml', '--dry-run'],
      'unknown flag for run: --dry-run\n  asset-export plan prints the bill and sends nothing; asset-export rehearse is a dry run with generated records.',
    ],
    [['run', '--quiet'], 'unknown flag for run: --quiet\n  Messages go to stderr: redirect it (2>run.log).'],
    [['run', 'job.yaml', '-v'], 'unknown flag for run: -v\n  asset-export --version prints the version.'],
    [['run', '--ulr', 'x'], 'unknown flag for run: --ulr; did you mean --url?'],
    [['--fresh', 'run'], 'unexpected flag --fresh: the command comes first, as in asset-export run --fresh …'],
    [['run', '--concurency', '4'], 'unknown flag for run: --concurency; did you mean --concurrency?'],
    [['run', '--no-singels'], 'unknown flag for run: --no-singels; did you mean --no-singles?'],
    [['run', '--colour', 'red'], 'unknown flag for run: --colour'],
    [['run', '-x'], 'unknown flag for run: -x'],
    [['run', '--ids'], '--ids needs a value: --ids PATH'],
    [['check', 'job.yaml', '--call=1'], '--call takes no value: --call=1'],
    [['status', 'out', '--json=yes'], '--json takes no value: --json=yes'],
    [['status'], 'missing argument: status needs <out>, output folder or bucket of an export'],
    [['status', 'a', 'b'], 'unexpected argument: b'],
    [['run', '--log-level', 'loud', '--ids', 'a', '--url', 'embedded:b', '--out', 'c'], '--log-level must be one of'],
    [
      ['run', '--grace-ms', '86400001', '--ids', 'a', '--url', 'embedded:b', '--out', 'c'],
      '--grace-ms must be a whole number, at most 86400000, not "86400001"',
    ],
  ])('says what is wrong with %j, on stderr, with exit 2', async (args, message) => {
    const { exit, stdout, stderr } = await runHere(args, { cwd: await tempFolder() });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(`asset-export: ${message}`);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it('says it in the same words whatever the language of the machine', async () => {
    const environment = { LC_ALL: 'de_DE.UTF-8' };
    const { stderr } = await runHere(['run', '--concurency', '4'], { environment });
    expect(stderr).toContain('unknown flag for run: --concurency; did you mean --concurrency?');
  });

  it('takes ids from stdin, and all the ones for an id', async () => {
    const cwd = await tempFolder();
    const flags = [
      '--ids',
      '-',
      '--url',
      `embedded:${records}`,
      '--out',
      'out',
      '--format',
      'csv',
      '--json',
      '--allow-none',
    ];
    const { exit, stdout } = await runHere(['run', ...flags], { cwd, stdin: `${'1'.repeat(32)}\nodd\n` });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'complete',
      exitCode: 0,
      read: 2,
      missing: 1,
      invalid: 1,
      calls: 1,
    });
  });

  it('writes a log line of JSON for each change of state where there is no terminal', async () => {
    const cwd = await tempFolder();
    const flags = ['--ids', '-', '--url', `embedded:${records}`, '--out', 'out', '--format', 'csv'];
    const { stderr } = await runHere(['run', ...flags], { cwd, stdin: '' });
    const log = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string });
    expect(log.map(({ msg }) => msg)).toEqual(['export started', 'part committed', 'export ended']);
  });

  it('asks for a key where the service needs one, and says how to try without', async () => {
    const cwd = await tempFolder();
    writeFileSync(join(cwd, 'ids.txt'), '');
    const args = ['run', '--ids', 'ids.txt', '--url', 'https://service.example', '--out', 'out'];
    const { exit, stderr } = await runHere(args, { cwd });
    expect(exit).toBe(2);
    expect(stderr).toContain('asset-export: no API key given\n');
    expect(stderr).toContain('run asset-export demo, then use --url embedded:asset-export-demo');
  });

  it.each(['file/out', 'file'])('ends with 7 where it cannot write, and leaves no process behind: %s', async (out) => {
    const cwd = await tempFolder();
    writeFileSync(join(cwd, 'file'), '');
    const flags = ['--ids', '-', '--url', `embedded:${records}`, '--out', out];
    const { exit, stderr } = await runHere(['run', ...flags], { cwd });
    expect(exit).toBe(7);
    expect(stderr).toContain('a file has the name of this folder');
  });

  it.each([
    [['status', 'file'], 'is not an export'],
    [['verify', 'file'], 'is not an export: it is a file'],
    [['verify', 'file', '--repair', '--ids', 'file', '--url', 'embedded:file'], 'is not an export: it is a file'],
    [['load', 'file', '--to', 'duckdb:x'], 'is not an export: it is a file'],
  ])('ends with 2 where %j names a file for a folder', async (args, message) => {
    const cwd = await tempFolder();
    writeFileSync(join(cwd, 'file'), '');
    const { exit, stderr } = await runHere(args, { cwd });
    expect(stderr).toContain(message);
    expect(exit).toBe(2);
  });

  it.each(['takes no more', 'has lost its reader'])('ends a run with 0 although stderr %s', async (what) => {
    const cwd = await tempFolder();
    await writeIdFile(join(cwd, 'ids.txt'), { entries: 40 });
    const flags = [
      '--ids',
      'ids.txt',
      '--url',
      `embedded:${records}`,
      '--out',
      'out',
      ...['--ids-per-call', '5', '--rows-per-part', '10', '--allow-none'],
      '--json',
    ];
    const stderr = what === 'takes no more' ? openSync('/dev/full', 'w') : 'pipe';
    const child = spawn(process.execPath, [join(root, 'dist/main.js'), 'run', ...flags], {
      cwd,
      stdio: ['ignore', 'pipe', stderr],
    });
    child.stderr?.destroy();
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'complete', exitCode: 0, read: 40 });
  });

  it('does not pass over a stdout that is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [join(root, 'dist/main.js'), '--help'], { stdio: ['ignore', full, 'pipe'] });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: 'asset-export: cannot write to stdout: ENOSPC: no space left on device, write\n',
    });
  });
});
