import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundleProgram } from '../../../support/bundle-program.ts';
import { sampled } from '../../../model/support/sample.ts';

const run = promisify(execFile);
const program = await bundleProgram(new URL('../support/read-hostile-body.ts', import.meta.url));

const head = '{"jsonrpc":"2.0","id":1,';
const tooMany = 'malformed answer: more than 501000 values besides plain records';

describe('an answer of 64 MiB that holds as many values as it can', () => {
  const bodies = [
    ['in a member that nobody asks for', [`${head}"result":[],"x":[`, '[],', '0]}'], 'records'],
    ['in such a member, within each other', [`${head}"result":[],"x":`, '[', '}', ']'], tooMany],
    ['in its error', [`${head}"error":{"code":1,"data":[`, '{},', '0]}}'], tooMany],
    ['in its error, within each other', [`${head}"error":{"code":1,"data":`, '[', '}}', ']'], tooMany],
    ['in its id', ['{"jsonrpc":"2.0","result":[],"id":[', '1e9,', '0]}'], tooMany],
    ['in a record that is deep', [`${head}"result":[{"id":"a","x":`, '[', '}]}', ']'], tooMany],
    ['in a record that is odd', [`${head}"result":[{"id":"a","content":[`, '[],', '0]}]}'], tooMany],
    ['in a record with blanks', [`${head}"result":[{"id":"a","x":[`, '{ },', '0]}]}'], tooMany],
    ['in a list of which each element is a row', [`${head}"result":[{"id":"a","grouping":[`, '{},', '{}]}]}'], tooMany],
    ['in what is no record', [`${head}"result":[[`, '{},', '0]]}'], tooMany],
    ['in a record with odd names', [`${head}"result":[{"id":"a","7":[`, '1e9,', '0]}]}'], tooMany],
  ] as const;
  it.each(sampled(bodies, 4))('takes no memory to read, %s', async (_, texts, expected) => {
    const { stdout } = await run(process.execPath, ['--max-old-space-size=200', program, ...texts]);
    expect(stdout.trim()).toBe(expected);
  });
});
