import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localDisk } from '../../src/places/files/disk.ts';
import { readJournals } from '../../src/places/scratch/journal.ts';
import { type GeneratedService, startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { fileBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { startProgram, told } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sampled } from '../model/support/sample.ts';
import { startStopwatch } from '../support/stopwatch.ts';

const calls = 12;
const concurrency = 4;
const signals = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const;

interface Setting {
  readonly folder: string;
  readonly flags: (service: GeneratedService, out: string) => string[];
  readonly options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> };
}

async function setting(): Promise<Setting> {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: calls * 10 });
  return {
    folder,
    flags: (service, out) => [
      ...['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, '--format', 'csv,jsonl'],
      ...['--ids-per-call', '10', '--rows-per-part', '35', '--concurrency', String(concurrency)],
    ],
    options: { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') } },
  };
}

async function asked(service: GeneratedService, sent: number): Promise<void> {
  while (service.counts().calls < sent) await new Promise((resolve) => setTimeout(resolve, 2));
}

async function keptAnswers(out: string): Promise<number> {
  return (await readJournals(localDisk, [out])).size();
}

/** The files of an undisturbed run, of which there is one for all tests. */
let calm: Promise<Readonly<Record<string, string>>> | undefined;

/** Runs the same command against a service that answers at once; the files are those of an undisturbed run. */
async function goesOn({ folder, flags, options }: Setting): Promise<number> {
  const quick = await startGeneratedService();
  const last = await runHere([...flags(quick, 'out'), '--threads', '1'], options);
  const sent = quick.counts().calls;
  expect(last.exit, last.stderr).toBe(0);
  calm ??= runHere([...flags(quick, 'calm'), '--threads', '1'], options).then(() => fileBytes(join(folder, 'calm')));
  const expected = await calm;
  await quick.stop();
  expect(fileBytes(join(folder, 'out'))).toEqual(expected);
  return sent;
}

describe('the first signal', () => {
  // Promise, Nothing lost: SIGINT, SIGTERM, SIGHUP keep the answers that arrive within `--grace-ms`; the same command resumes
  it.each(signals)('%s begins no new call, keeps the answers in flight, and ends with %d', async (signal, exit) => {
    const set = await setting();
    const slow = await startGeneratedService({ delayMs: 600 });
    const { child, ended } = startProgram(set.flags(slow, 'out'), set.options);
    // The first call goes alone; its answer lets the others go.
    const sent = 1 + concurrency;
    await asked(slow, sent);
    child.kill(signal);
    const run = await ended;
    expect(run.exit, run.stderr).toBe(exit);
    expect(run.stderr).toContain(`stopped by ${signal}`);
    expect(run.stderr).toContain('Run the same command again');
    expect(run.stderr).not.toContain('    at ');
    expect(slow.counts().calls).toBe(sent);
    await slow.stop();
    // The first part may be committed by then, and its answers dropped.
    expect(await goesOn(set)).toBe(calls - sent);
  });

  it('SIGHUP changes nothing where nohup started the program', async () => {
    const set = await setting();
    const slow = await startGeneratedService({ delayMs: 100 });
    const environment = { ...set.options.environment, _: '/usr/bin/nohup' };
    const { child, ended } = startProgram(set.flags(slow, 'out'), { ...set.options, environment });
    await asked(slow, 1);
    child.kill('SIGHUP');
    const run = await ended;
    expect(run.exit, run.stderr).toBe(0);
    expect(slow.counts().calls).toBe(calls);
    await slow.stop();
  });

  it('leaves answers in flight no longer than --grace-ms', async () => {
    const set = await setting();
    const slow = await startGeneratedService({ delayMs: 60_000 });
    const { child, ended } = startProgram([...set.flags(slow, 'out'), '--grace-ms', '300'], set.options);
    await asked(slow, 1);
    const [ms, signalled] = [startStopwatch(child.pid ?? 0), performance.now()];
    child.kill('SIGTERM');
    expect((await ended).exit).toBe(143);
    expect(performance.now() - signalled).toBeGreaterThan(280);
    expect(ms()).toBeLessThan(15_000);
    await slow.stop();
    expect(await keptAnswers(join(set.folder, 'out'))).toBe(0);
    expect(await goesOn(set)).toBe(calls);
  });

  it('while calls wait for their next attempt ends the waiting', async () => {
    const set = await setting();
    const { child, ended } = startProgram(
      [
        ...set.flags({ url: 'http://127.0.0.1:9' } as GeneratedService, 'out'),
        '--retries',
        '1000',
        '--log-level',
        'debug',
      ],
      set.options,
    );
    await told(child, 'ECONNREFUSED');
    child.kill('SIGTERM');
    expect((await ended).exit).toBe(143);
    expect(await goesOn(set)).toBe(calls);
  });
});

describe('a signal while ids are piped in by a program that hangs', () => {
  it.each(sampled(signals, 3))('%s ends the run with %d, and the same command begins it', async (signal, exit) => {
    const { folder, flags, options } = await setting();
    const service = await startGeneratedService();
    const ids = readFileSync(join(folder, 'ids.txt'), 'utf8');
    const command = flags(service, 'out').map((word) => (word === 'ids.txt' ? '-' : word));
    const { child, ended } = startProgram(command, { ...options, stdin: ids.slice(0, 500), stdinStaysOpen: true });
    onTestFinished(() => void child.kill('SIGKILL'));
    const begun = join(folder, 'out/.run/stdin-ids.new');
    while (!existsSync(begun)) await new Promise((resolve) => setTimeout(resolve, 2));
    const ms = startStopwatch(child.pid ?? 0);
    child.kill(signal);
    const run = await ended;
    expect(run.exit, run.stderr).toBe(exit);
    expect(ms()).toBeLessThan(5000);
    expect(run.stderr).toContain('Run the same command again');
    expect(run.stderr).not.toContain('    at ');
    expect(existsSync(join(folder, 'out'))).toBe(false);
    const last = await runHere([...command, '--threads', '1'], { ...options, stdin: ids });
    await service.stop();
    expect(last.exit, last.stderr).toBe(0);
    expect(service.counts().calls).toBe(calls);
  });
});

describe('the second signal', () => {
  it.each(sampled(signals, 3))(
    '%s ends the program within a second, with %d, and the export goes on',
    async (signal, exit) => {
      const set = await setting();
      const slow = await startGeneratedService({ delayMs: 60_000 });
      const { child, ended } = startProgram(set.flags(slow, 'out'), set.options);
      await asked(slow, 1);
      const heard = told(child, 'no new calls');
      child.kill(signal);
      await heard;
      const ms = startStopwatch(child.pid ?? 0);
      child.kill(signal);
      expect((await ended).exit).toBe(exit);
      expect(ms()).toBeLessThan(1000);
      await slow.stop();
      expect(await goesOn(set)).toBe(calls);
    },
  );
});
