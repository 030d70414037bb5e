import { expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const environment = { ASSET_EXPORT_API_KEY: 'a-key' };

it.each([
  ['is not there yet', false],
  ['is there', true],
  // Promise, Nothing lost: A full disk under a new or existing credit ledger is exit 7
])('a credit ledger that cannot be written ends with 7 and says so, when it %s', async (_, isThere) => {
  const cwd = await tempFolder();
  const args = ['credits', 'set', '100', '--state-dir', 'state'];
  if (isThere) expect(await runProgram(args, { cwd, environment })).toMatchObject({ exit: 0 });
  const { exit, stderr } = await runProgram(args, { cwd, environment, largestFile: 2 });
  expect(stderr).toMatch(/^asset-export: Cannot read or write the credit ledger: .*\n {2}Free disk space/m);
  expect(stderr).not.toContain('see commitError');
  expect(stderr).not.toContain('Node.js v');
  expect(exit).toBe(7);
});
