import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { endOf } from '../support/run-program.ts';
import { startStopwatch } from '../support/stopwatch.ts';

const module = new URL('../../src/cli/process-terminal.ts', import.meta.url).href;

/** Runs a program that opens a connection to a server that says nothing, and then ends. */
async function connectedProgram(end: string) {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const script = `
    import { connect } from 'node:net';
    import { once } from 'node:events';
    import { endSoon, processTerminal } from '${module}';
    await once(connect(${(server.address() as AddressInfo).port}, '127.0.0.1'), 'connect');
    const { toldToEnd } = processTerminal;
    console.log(Date.now());
    process.once('exit', () => console.log('exit'));
    ${end}`;
  const loader = import.meta.resolve('ts-blank-space/register');
  const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', script]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const began = once(child.stdout, 'data').then(() => startStopwatch(child.pid ?? 0));
  const run = await endOf(child);
  const [beganMs, said] = run.stdout.split('\n');
  return { ...run, said, waitedMs: Date.now() - Number(beganMs), tookMs: (await began)() };
}

it.each([
  { end: 'endSoon(3)', exit: 3, least: 900, most: 2000 },
  { end: 'toldToEnd(); endSoon(3)', exit: 3, least: 0, most: 800 },
  { end: 'endSoon(143)', exit: 143, least: 0, most: 800 },
  { end: 'endSoon(130)', exit: 130, least: 0, most: 800 },
  // Promise, Nothing lost: An open socket delays the program's end by at most a second
])('an open socket keeps the program no longer than it may: $end', async ({ end, exit, least, most }) => {
  const run = await connectedProgram(end);
  expect(run).toMatchObject({ exit, said: 'exit', stderr: '' });
  expect(run.waitedMs).toBeGreaterThanOrEqual(least);
  expect(run.tookMs).toBeLessThan(most);
});
