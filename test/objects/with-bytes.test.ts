import { type ReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withBytes } from '../../src/objects/bucket-objects.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the bytes of a file on their way to a bucket', () => {
  it('end with the answer, although the client stops reading at the last byte', async () => {
    const file = join(await tempFolder(), 'part');
    const bytes = 3 << 20;
    writeFileSync(file, Buffer.alloc(bytes));
    const answer = await withBytes({ file, bytes, sha256: '' }, new AbortController().signal, (body) => {
      const stream = body as ReadStream;
      let sent = 0;
      return new Promise<string>((resolve) => {
        stream.on('data', (block) => {
          sent += block.length;
          if (sent < bytes) return;
          stream.pause();
          resolve('answer');
        });
      });
    });
    expect(answer).toBe('answer');
  });
});
