import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { alignedMemory, beginsAtPage, separateMemory } from '../../src/lib/aligned-memory.ts';

const megabyte = 1024 * 1024;

describe('separate memory', () => {
  it('is all zeros, and as much as is asked for', () => {
    const memory = separateMemory(megabyte + 4);
    expect(memory.byteLength).toBeGreaterThanOrEqual(megabyte + 4);
    expect(Buffer.from(memory).equals(Buffer.alloc(memory.byteLength))).toBe(true);
  });

  it('is a range error where there is none', () => {
    expect(() => separateMemory(Number.MAX_SAFE_INTEGER)).toThrow(RangeError);
  });
});

describe('aligned memory', () => {
  it('is known to begin at a page, if any', () => {
    const memory = Buffer.from(alignedMemory(megabyte));
    expect(memory).toHaveLength(megabyte);
    expect(beginsAtPage(memory)).toBe(process.platform === 'linux');
    expect(beginsAtPage(memory.subarray(1))).toBe(false);
  });
});

describe.runIf(process.platform === 'linux')('where address space is limited', () => {
  it('is ordinary, and of zeros all the same', async () => {
    const module = pathToFileURL('dist/lib/aligned-memory.js').href;
    const program = `
      const { alignedMemory, beginsAtPage, separateMemory } = await import('${module}');
      const memory = new Uint8Array(separateMemory(${megabyte}));
      const known = beginsAtPage(new Uint8Array(alignedMemory(${megabyte})));
      console.log(memory.length, memory.some((byte) => byte !== 0), known);`;
    const run = `ulimit -v 8000000; exec "$0" --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', run, process.execPath, program]);
    expect(stdout.trim()).toBe(`${megabyte} false false`);
  });
});
