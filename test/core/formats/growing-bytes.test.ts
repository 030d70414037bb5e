import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteBlocks } from '../../../src/core/formats/growing-bytes.ts';
import { blockBytes } from '../../../src/core/formats/sink.ts';

/** Bytes by number, so that any that is out of place is seen. */
const content = Uint8Array.from({ length: 3 * blockBytes + 4321 }, (_, index) => (index * 31 + (index >> 8)) & 0xff);

/** Keeps what it is given; it looks at a block only when it is done with it, as a disk may. */
function slowOutput() {
  let busy = 0;
  const output = {
    blocks: [] as Buffer[],
    atOnce: 0,
    write: async (block: Uint8Array) => {
      busy += 1;
      output.atOnce = Math.max(output.atOnce, busy);
      await new Promise(setImmediate);
      output.blocks.push(Buffer.from(block));
      busy -= 1;
    },
  };
  return output;
}

describe('bytes in blocks', () => {
  it('come out as they went in, in blocks of one size but the last, however they are added', async () => {
    const added = fc.record({ bytes: fc.integer({ min: 0, max: 3 * blockBytes }), inPlace: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(added, { maxLength: 30 }), async (pieces) => {
        const output = slowOutput();
        const blocks = new ByteBlocks(output);
        let end = 0;
        for (const { bytes, inPlace } of pieces) {
          const piece = content.subarray(end, end + bytes);
          end += piece.length;
          if (!inPlace) await blocks.write(piece);
          else {
            blocks.reserve(piece.length);
            blocks.add(piece);
            if (blocks.isFull) await blocks.flush();
          }
        }
        await blocks.end();
        expect(Buffer.concat(output.blocks).equals(content.subarray(0, end))).toBe(true);
        expect(output.blocks.slice(0, -1).every(({ length }) => length === blockBytes)).toBe(true);
        expect(output.blocks.at(-1)?.length ?? 1).toBeGreaterThan(0);
        expect(output.atOnce).toBeLessThanOrEqual(1);
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  it('come out of files that take turns as they went into each', async () => {
    const outputs = [slowOutput(), slowOutput(), slowOutput()];
    const files = outputs.map((output) => new ByteBlocks(output));
    for (let start = 0; start < content.length; start += 99_991) {
      for (const [index, file] of files.entries()) {
        await file.write(content.subarray(start, start + 99_991).map((byte) => byte ^ index));
      }
    }
    for (const file of files) await file.end();
    for (const [index, { blocks }] of outputs.entries()) {
      expect(Buffer.concat(blocks).equals(content.map((byte) => byte ^ index))).toBe(true);
    }
  });

  it('are held once, however many a row fills, and tell which could not be taken', async () => {
    let taken = 0;
    const blocks = new ByteBlocks({
      write: async () => {
        await new Promise(setImmediate);
        taken += 1;
        if (taken === 5) throw new Error('the disk is full');
      },
    });
    await blocks.write(content.subarray(0, 5));
    const addAll = async (): Promise<void> => {
      blocks.reserve(content.length);
      blocks.add(content);
      await blocks.flush();
    };
    await addAll();
    expect(taken).toBe(3);
    await expect(addAll()).rejects.toThrow('the disk is full');
    expect(blocks.isFull).toBe(true);
    await expect(blocks.flush()).rejects.toThrow('the disk is full');
    await expect(blocks.end()).rejects.toThrow('the disk is full');
    expect(taken).toBe(5);
  });

  it('are no block where there are none', async () => {
    const output = slowOutput();
    const blocks = new ByteBlocks(output);
    await blocks.write(new Uint8Array(0));
    await blocks.end();
    expect(output.blocks).toEqual([]);
  });
});
