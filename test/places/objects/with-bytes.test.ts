import { type ReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { withBytes } from '../../../src/places/objects/bucket-objects.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const bytes = 3 << 20;

async function fileBody() {
  const file = join(await tempFolder(), 'part');
  writeFileSync(file, Buffer.alloc(bytes));
  return { file, bytes, sha256: '' };
}

/** Sends a file as a request would: `onLastByte` is called before the end of the file is read. */
function requestOf(body: unknown, onLastByte: (request: Writable) => void): Writable {
  let sent = 0;
  const request = new Writable({
    highWaterMark: bytes,
    write: (block: Buffer, _, done) => {
      sent += block.length;
      done();
      if (sent === bytes) onLastByte(request);
    },
  });
  return (body as ReadStream).pipe(request);
}

const never = new AbortController().signal;

describe('the bytes of a file on their way to a bucket', () => {
  it('end with the answer, although the client stops reading at the last byte', async () => {
    const answer = await withBytes(await fileBody(), never, (body) => {
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

  it('end although the connection closes after the answer, before the end of the file is read', async () => {
    const answer = await withBytes(
      await fileBody(),
      never,
      (body) =>
        new Promise<string>((resolve) => {
          requestOf(body, (request) => {
            resolve('answer');
            setImmediate(() => request.destroy());
          });
        }),
    );
    expect(answer).toBe('answer');
  });

  it('end the request that is refused at the last byte: it would hold its connection', async () => {
    let request: Writable | undefined;
    const put = withBytes(
      await fileBody(),
      never,
      (body) =>
        new Promise<string>((_, reject) => {
          request = requestOf(body, () => {
            reject(new Error('taken'));
          });
        }),
    );
    await expect(put).rejects.toThrow('taken');
    expect(request?.writableEnded).toBe(true);
  });
});
