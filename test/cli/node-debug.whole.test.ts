import { expect, it } from 'vitest';
import { refuseLeakingDebugLogs } from '../../src/cli/command-line.ts';
import { runProgram } from '../support/run-program.ts';

it.each(['undici', 'fetch', 'http', 'net', '*', 'UNDICI', 'fs,net', 'h*', 'und*'])(
  'NODE_DEBUG=%s is refused, as it would print the address with the key',
  (value) => {
    expect(() => {
      refuseLeakingDebugLogs(value);
    }).toThrow('would print the API key');
  },
);

it.each([undefined, '', 'fs', 'undici-x', 'network', 'h.tp'])('NODE_DEBUG=%s is left alone', (value) => {
  refuseLeakingDebugLogs(value);
});

// Promise, Nothing leaked: `NODE_DEBUG` that would print the key ends the program with 2
it('the program ends with 2 before it connects, and still shows help', async () => {
  const environment = { NODE_DEBUG: 'undici', ASSET_EXPORT_API_KEY: 'canary-key', ASSET_EXPORT_STATE: 'state' };
  const run = await runProgram(['get', '1'.repeat(32), '--url', 'http://127.0.0.1:9'], { environment });
  expect(run).toMatchObject({ exit: 2, stdout: '' });
  expect(run.stderr).toMatch(/^asset-export: NODE_DEBUG=undici would print the API key/m);
  expect(run.stderr).not.toContain('canary');
  expect((await runProgram(['get', '--help'], { environment })).exit).toBe(0);
});
