import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { shortageIn } from '../../../src/lib/export-error.ts';
import { runProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const job = fileURLToPath(new URL('../../../jobs/demo.yaml', import.meta.url));

describe('a process that has too little', () => {
  const handles = /too many open files.*EMFILE[^]*Raise the limit/;
  const addresses = /out of memory or address space[^]*Remove the address space limit/;
  // V8 of Node 24 ends the process itself when it gets no addresses.
  const hasWords = Number(process.versions.node.split('.')[0]) < 24;

  it.runIf(process.platform === 'linux').each([
    ['handles while it loads', '-n 26', handles] as const,
    ['handles while it runs', '-n 52', handles] as const,
    ...(hasWords ? [['address space', '-v 1500000', addresses] as const] : []),
    // Promise, Nothing lost: Too few handles, memory or address space is exit 7 in words
  ])('%s says so in words and ends with 7', async (_, limit, words) => {
    const cwd = await tempFolder();
    const { exit, stderr } = await runProgram(['run', job, '--out', 'out'], { cwd, limit });
    expect(stderr).toMatch(words);
    expect(stderr).not.toContain('this is a bug');
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(exit).toBe(7);
  });

  it('is known by codes, by the words of V8, and by causes', () => {
    const cause = new RangeError('Array buffer allocation failed');
    expect(shortageIn(new Error('outer', { cause: new Error('inner', { cause }) }))?.what).toMatch(/out of memory/);
    expect(shortageIn(Object.assign(new Error('x'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }))?.what).toMatch(/memory/);
    expect(shortageIn(Object.assign(new Error('x'), { code: 'ENFILE' }))?.what).toMatch(/on this machine/);
    const lost = Object.assign(new Error("Cannot find package 'parquet-wasm'"), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(shortageIn(lost)?.todo).toMatch(/limit of open files.*install/);
    expect(shortageIn(new RangeError('Invalid time value'))).toBeUndefined();
    expect(shortageIn(new Error('the service is out of memory'))).toBeUndefined();
    expect(shortageIn('EMFILE')).toBeUndefined();
    const circular = new Error('a');
    circular.cause = circular;
    expect(shortageIn(circular)).toBeUndefined();
  });
});
