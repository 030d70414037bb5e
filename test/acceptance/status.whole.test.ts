import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { terminalCommand } from '../../docs/terminal-command.ts';
import { nextUtcMidnight, systemClock } from '../../src/lib/clock.ts';
import type { ExportStatus } from '../../src/wings/status/export-status.ts';
import { type GeneratedServiceOptions, startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** 60 ids, 10 a call, one call at once, all in one part. */
async function sixtyIds(options: GeneratedServiceOptions = {}) {
  const folder = await tempFolder();
  const service = await startGeneratedService(options);
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
  const args = ['run', '--ids', 'ids.txt', '--url', service.url, '--format', 'csv', '--ids-per-call', '10'];
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const command = (out: string, more: readonly string[]) => [...args, '--concurrency', '1', '--out', out, ...more];
  const there = { cwd: folder, environment };
  return {
    folder,
    start: (out: string, ...more: string[]) => startProgram(command(out, more), there),
    run: (out: string, ...more: string[]) => runHere(command(out, ['--threads', '1', ...more]), there),
  };
}

async function statusOf(folder: string): Promise<Partial<ExportStatus>> {
  const { stdout } = await runHere(['status', folder, '--json']);
  return stdout === '' ? {} : (JSON.parse(stdout) as ExportStatus);
}

/** Looks again until it is so. */
async function statusWhen(folder: string, isSo: (status: Partial<ExportStatus>) => boolean) {
  for (;;) {
    const status = await statusOf(folder);
    if (isSo(status)) return status;
    await systemClock.sleep(60);
  }
}

/** A service that holds the answers to some of its calls back. */
function holding(...calls: readonly number[]) {
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const at: GeneratedServiceOptions['at'] = (point, { number }) =>
    point === 'received' && calls.includes(number) ? held : undefined;
  return {
    at,
    goOn: () => {
      goOn();
    },
  };
}

describe('status', () => {
  // Promise, Nothing lost: `status` reports fetched ids, waits, exit codes and the service's state, also of killed runs
  it('counts what is fetched and not yet written, while a run goes on, after it was killed, and in the next one', async () => {
    // The second run asks the fifth call first.
    const service = holding(4, 6);
    const { folder, start } = await sixtyIds({ at: service.at });
    const out = join(folder, 'out');
    const run = start('out', '--credits-per-day', '16000');
    // The fourth call is booked and counted a moment after the third answer is kept.
    const isCounted = ({ fetched = 0, calls = 0, creditsToday }: Partial<ExportStatus>): boolean =>
      fetched >= 30 && calls >= 4 && creditsToday === 640;
    expect(await statusWhen(out, isCounted)).toMatchObject({
      state: 'running',
      waitingUntil: null,
      exit: null,
      fetched: 30,
      parts: 0,
      lastError: null,
      calls: 4,
      credits: 640,
      creditsToday: 640,
      creditsLeft: 15_360,
      etaMs: expect.any(Number) as number,
    });
    const { stdout } = await runProgram(['status', out]);
    expect(stdout).toContain(' is running: process ');
    expect(stdout).toContain('fetched  30 ids, not yet written');
    run.child.kill('SIGKILL');
    await run.ended;
    expect(await statusOf(out)).toMatchObject({ state: 'stopped', exit: null, fetched: 30, owner: null });
    expect((await runHere(['status', out])).stdout).toContain(' is stopped (killed)');
    const resumed = start('out');
    await statusWhen(out, ({ fetched = 0 }) => fetched > 30);
    service.goOn();
    expect(await resumed.ended).toMatchObject({ exit: 0 });
    expect(await statusOf(out)).toMatchObject({ state: 'complete', exit: 0, fetched: 0, lastError: null });
    expect(existsSync(join(out, '.run'))).toBe(false);
    const kinds = readFileSync(join(out, 'runs.jsonl'), 'utf8').match(/"kind":"(run|committed|end)"/g);
    expect(kinds?.map((kind) => kind.slice(8, -1))).toEqual(['run', 'run', 'committed', 'end']);
  });

  it('says until when a run waits for credits, and with which exit status it stopped', async () => {
    const { folder, start } = await sixtyIds();
    const out = join(folder, 'out');
    const midnight = new Date(nextUtcMidnight(Date.now())).toISOString();
    const run = start('out', '--credits-per-day', '320', '--when-spent', 'wait');
    expect(await statusWhen(out, ({ state }) => state === 'waiting')).toMatchObject({
      waitingUntil: midnight,
      fetched: 20,
      creditsToday: 320,
      creditsLeft: 0,
      exit: null,
      lastError: expect.stringContaining('--credits-per-day 320') as string,
    });
    expect((await runHere(['status', out])).stdout).toContain(
      ` is waiting until ${midnight.slice(0, 10)} 00:00 UTC: process`,
    );
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ exit: 143 });
    expect(await statusOf(out)).toMatchObject({ state: 'stopped', exit: 143, waitingUntil: null, fetched: 20 });
    expect(await start('out', '--credits-per-day', '320').ended).toMatchObject({ exit: 8 });
    expect(await statusOf(out)).toMatchObject({
      state: 'stopped',
      exit: 8,
      fetched: 20,
      creditsLeft: 0,
      lastError: expect.stringContaining('is spent') as string,
    });
    expect((await runHere(['status', out])).stdout).toContain(' is stopped (exit 8)');
  });

  it('reports what the run believes of the service while a process runs', async () => {
    let isThrottled = true;
    const { folder, start } = await sixtyIds({
      throttled: ({ number }) => (isThrottled && number > 2 ? 1 : undefined),
    });
    const out = join(folder, 'nights/a');
    const run = start('nights/a', '--retries', '20');
    const probing = await statusWhen(out, ({ service }) => service === 'probing');
    expect(probing).toMatchObject({
      state: 'running',
      serviceMessage: expect.stringMatching(/^no answer since /) as string,
    });
    expect(probing['elapsedMs']).toBeGreaterThan(0);
    expect((await runHere(['status', out])).stdout).toMatch(/^ {2}service {2}no answer since \S+ UTC: /m);
    expect((await runHere(['status', join(folder, 'nights')])).stdout).toContain('running (probing)');
    isThrottled = false;
    expect(await run.ended).toMatchObject({ exit: 0 });
    expect(await statusOf(out)).not.toHaveProperty('service');
  });

  // Promise, Nothing lost: `status` lists a folder; `--watch` reports until the run ends
  it('lists every export in a folder', async () => {
    const { folder, run } = await sixtyIds();
    await run('nights/date=2026-11-22');
    await run('nights/date=2026-11-23', '--credits-per-run', '320');
    const nights = join(folder, 'nights');
    const { stdout } = await runHere(['status', nights]);
    expect(stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toMatchObject([
      'export state written exported fetched credits error',
      expect.stringContaining('date=2026-11-22 complete 100 % 60 960') as string,
      expect.stringContaining('date=2026-11-23 stopped (exit 8) 0 % 0 20 320 This run') as string,
      '',
    ]);
    expect(JSON.parse((await runHere(['status', nights, '--json'])).stdout)).toMatchObject({
      folder: nights,
      exports: [
        { folder: join(nights, 'date=2026-11-22'), state: 'complete' },
        { folder: join(nights, 'date=2026-11-23'), state: 'stopped', exit: 8, fetched: 20 },
      ],
    });
  });

  it('watches a run until it ends: a JSON line each time where there is no terminal', async () => {
    const service = holding(3);
    const { folder, start } = await sixtyIds({ at: service.at });
    const out = join(folder, 'out');
    const run = start('out');
    await statusWhen(out, ({ state }) => state === 'running');
    const watch = startProgram(['status', '--watch', '0.05', out]);
    watch.child.stdout?.once('data', () => {
      service.goOn();
    });
    const { exit, stdout } = await watch.ended;
    await run.ended;
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as ExportStatus).state);
    expect(exit).toBe(0);
    expect([...new Set(states)]).toEqual(['running', 'complete']);
    expect((await runHere(['status', '--watch', out])).stdout).toContain('"state":"complete"');
    expect(await runHere(['status', out, '--watch', '0'])).toMatchObject({ exit: 2 });
  });

  it('shows the progress block of the run while it watches on a terminal, then its state', async () => {
    const service = holding(4);
    const { folder, start } = await sixtyIds({ at: service.at });
    const out = join(folder, 'out');
    const run = start('out');
    await statusWhen(out, ({ fetched = 0 }) => fetched >= 30);
    const line = `stty rows 30 cols 80; '${process.execPath}' dist/main.js status '${out}' --watch 0.1`;
    const [file, ...args] = terminalCommand(line);
    const watch = spawn(file, args, { env: { PATH: process.env['PATH'], TERM: 'xterm' } });
    let shown = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      if (shown.includes('at once')) service.goOn();
    });
    const [exit] = (await once(watch, 'close')) as [number];
    await run.ended;
    expect(exit).toBe(0);
    expect(shown).toMatch(/ is running: process \d+/);
    expect(shown).toMatch(/█+.?░+  50 %  part 1 of 1\r?\n30 of 60 ids · /);
    expect(shown).toContain('30 fetched');
    expect(shown).toContain('4 calls, 1 at once · 640 credits · ');
    expect(shown).toMatch(/ is complete\r?\n/);
  });
});
