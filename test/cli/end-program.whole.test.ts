import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { endOf } from '../support/run-program.ts';

const terminal = new URL('../../src/cli/process-terminal.ts', import.meta.url).href;
const stopwatch = new URL('../support/stopwatch.ts', import.meta.url).href;
const ended = z.object({ returned: z.boolean(), waitedMs: z.number(), tookMs: z.number() });

/** Runs a program that opens a connection to a server that says nothing, then ends, and says at its exit how long that took. */
async function connectedProgram(end: string) {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const script = `
    import { connect } from 'node:net';
    import { once } from 'node:events';
    import { endSoon, processTerminal } from '${terminal}';
    import { startStopwatch } from '${stopwatch}';
    await once(connect(${(server.address() as AddressInfo).port}, '127.0.0.1'), 'connect');
    const { toldToEnd } = processTerminal;
    let returned = false;
    const [ms, began] = [startStopwatch(), performance.now()];
    process.once('exit', () => {
      console.log(JSON.stringify({ returned, waitedMs: performance.now() - began, tookMs: ms() }));
    });
    ${end};
    returned = true;`;
  const loader = import.meta.resolve('ts-blank-space/register');
  const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '-e', script]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const { exit, stdout, stderr } = await endOf(child);
  expect(stderr).toBe('');
  return { exit, ...ended.parse(JSON.parse(stdout)) };
}

it.each([
  { end: 'endSoon(3)', exit: 3, returned: true, least: 900, most: 2000 },
  // These end there: nothing after them is done.
  { end: 'toldToEnd(); endSoon(3)', exit: 3, returned: false, least: 0, most: 800 },
  { end: 'endSoon(143)', exit: 143, returned: false, least: 0, most: 800 },
  { end: 'endSoon(130)', exit: 130, returned: false, least: 0, most: 800 },
  // Promise, Nothing lost: An open socket delays the program's end by at most a second
])('an open socket keeps the program no longer than it may: $end', async ({ end, exit, returned, least, most }) => {
  const run = await connectedProgram(end);
  expect(run).toMatchObject({ exit, returned });
  expect(run.waitedMs).toBeGreaterThanOrEqual(least);
  expect(run.tookMs).toBeLessThan(most);
});
