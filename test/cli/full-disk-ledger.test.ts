import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const environment = { ASSET_EXPORT_API_KEY: 'a-key' };

/** Runs the program where no file may grow beyond so many bytes, which meets it like a disk that is full. */
function runConfined(args: readonly string[], cwd: string): Promise<{ exit: unknown; stderr: string }> {
  const limited = ['-c', 'ulimit -f 1 && exec "$@"', 'bash', process.execPath, program, ...args];
  const env = { PATH: process.env['PATH'], HOME: cwd, ...environment };
  return new Promise((resolve) => {
    execFile('bash', limited, { cwd, env }, (error, _stdout, stderr) => {
      resolve({ exit: error?.code ?? error?.signal ?? 0, stderr });
    });
  });
}

it.each([
  ['is not there yet', false],
  ['is there', true],
])('a credit ledger that cannot be written ends with 7 and says so, when it %s', async (_, isThere) => {
  const cwd = await tempFolder();
  const args = ['credits', 'set', '100', '--state-dir', 'state'];
  if (isThere) expect(await runProgram(args, { cwd, environment })).toMatchObject({ exit: 0 });
  const { exit, stderr } = await runConfined(args, cwd);
  expect(stderr).toMatch(/^asset-export: The credit ledger cannot be read or written: .*\n {2}Make room/m);
  expect(stderr).not.toContain('see commitError');
  expect(stderr).not.toContain('Node.js v');
  expect(exit).toBe(7);
});
