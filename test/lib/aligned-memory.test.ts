import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { alignedMemory, beginsAtPage, separateMemory } from '../../src/lib/aligned-memory.ts';

const megabyte = 1024 * 1024;
const isLinux = process.platform === 'linux';
/** WebAssembly's memory comes in pages of this size, ordinary memory as it is asked for. */
const wasmPage = 65_536;

describe('separate memory', () => {
  it('is all zeros, and WebAssembly’s where that is known to do', () => {
    const memory = separateMemory(megabyte + 4);
    expect(memory.byteLength).toBe(isLinux ? megabyte + wasmPage : megabyte + 4);
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
    expect(beginsAtPage(memory)).toBe(isLinux);
    expect(beginsAtPage(memory.subarray(1))).toBe(false);
  });
});

describe.runIf(isLinux)('where address space is limited', () => {
  it('is ordinary, and of zeros all the same', async () => {
    const module = pathToFileURL('dist/lib/aligned-memory.js').href;
    const program = `
      const { alignedMemory, beginsAtPage, separateMemory } = await import('${module}');
      const memory = new Uint8Array(separateMemory(${megabyte + 4}));
      const known = beginsAtPage(new Uint8Array(alignedMemory(${megabyte})));
      console.log(memory.length, memory.some((byte) => byte !== 0), known);`;
    // Enough for WebAssembly's: what is limited is left alone before it fails.
    const run = `ulimit -v 60000000; exec "$0" --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', run, process.execPath, program]);
    expect(stdout.trim()).toBe(`${megabyte + 4} false false`);
  });
});
