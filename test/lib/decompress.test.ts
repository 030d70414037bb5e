import { gzipSync } from 'node:zlib';
import { Zstd } from '@hpcc-js/wasm-zstd';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decompress } from '../../src/lib/decompress.ts';
import { openCodec } from '../../src/places/export/codec.ts';
import { inPieces, readSizes } from './in-pieces.ts';

const zstd = await Zstd.load();
const pack = {
  gzip: (text: string) => gzipSync(text),
  zstd: (text: string) => Buffer.from(zstd.compress(Buffer.from(text))),
};
const codecs = ['gzip', 'zstd'] as const;

/** As the program writes it: a member, or frames with checksums. */
async function packed(codec: 'gzip' | 'zstd', texts: readonly string[]): Promise<Buffer> {
  const opened = await openCodec(codec);
  const out: Uint8Array[] = [];
  for (const text of texts) out.push(Uint8Array.from(await opened.push(Buffer.from(text))));
  return Buffer.concat([...out, await opened.end()]);
}

async function* reads(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes, sizes);
}

async function unpack(bytes: Uint8Array, codec: 'gzip' | 'zstd' | 'none', sizes: readonly number[] = [50]) {
  const pieces: Uint8Array[] = [];
  for await (const piece of decompress(reads(bytes, sizes), codec)) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString();
}

it('compares the checksum that the zstd program writes', async () => {
  // printf 'good and sound\n' | zstd
  const whole = Buffer.from('KLUv/QRYeQAAZ29vZCBhbmQgc291bmQKsKmbrw==', 'base64');
  expect(await unpack(whole, 'zstd')).toBe('good and sound\n');
  const other = Buffer.from(whole.toString('latin1').replace('sound', 'round'), 'latin1');
  await expect(unpack(other, 'zstd')).rejects.toThrow(/checksum/);
});

describe.each(codecs)('decompress %s', (codec) => {
  it('gives back any text, in one member or several, however it is read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 3 }),
        readSizes,
        async (texts, sizes) => {
          expect(await unpack(Buffer.concat(texts.map(pack[codec])), codec, sizes)).toBe(texts.join(''));
        },
      ),
      { seed: 35, numRuns: 100 },
    );
  });

  it('refuses data that is cut anywhere', async () => {
    const whole = Buffer.concat([pack[codec]('abc'.repeat(100)), pack[codec]('def')]);
    const first = pack[codec]('abc'.repeat(100)).length;
    for (let length = 1; length < whole.length; length += 1) {
      if (length === first) continue;
      await expect(unpack(whole.subarray(0, length), codec), `cut at ${length}`).rejects.toThrow();
    }
  });

  it('refuses other data, and other data behind its own', async () => {
    await expect(unpack(Buffer.from('plain text\n'), codec)).rejects.toThrow();
    const followed = Buffer.concat([pack[codec]('abc'), Buffer.from('plain text\n')]);
    await expect(unpack(followed, codec)).rejects.toThrow();
    await expect(unpack(followed, codec, [1000])).rejects.toThrow();
  });

  it('refuses a flipped bit anywhere, or gives the same text', async () => {
    const text = 'abcdefgh'.repeat(40);
    const whole = await packed(codec, [text, 'x'.repeat(2000), '']);
    for (let bit = 0; bit < whole.length * 8; bit += 9) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const got = await unpack(flipped, codec, [7]).catch(() => 'refused');
      expect(['refused', text + 'x'.repeat(2000)], `bit ${bit}`).toContain(got);
    }
  });

  it('takes nothing at all for an empty file', async () => {
    expect(await unpack(Buffer.alloc(0), codec)).toBe('');
  });

  it('passes on the failure of the source, and ends the source when it is left early', async () => {
    const packed = pack[codec]('abc'.repeat(1_000_000));
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield packed.subarray(0, 20);
      throw new Error('the disk is gone');
    };
    await expect(async () => {
      for await (const piece of decompress(failing(), codec)) expect(piece.length).toBeGreaterThan(0);
    }).rejects.toThrow('the disk is gone');

    let ended = false;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield packed;
      } finally {
        ended = true;
      }
    };
    for await (const piece of decompress(endless(), codec)) if (piece.length > 0) break;
    await expect.poll(() => ended).toBe(true);
  });
});

describe('decompress none', () => {
  it('passes the bytes on', async () => {
    expect(await unpack(Buffer.from('abc'), 'none')).toBe('abc');
  });
});
