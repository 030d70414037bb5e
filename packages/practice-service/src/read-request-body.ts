import type { Readable } from 'node:stream';
import { capBytes } from './http-answer.ts';

/** A body this long is no longer read to its end: the connection is dropped instead. */
const drainBytes = 8 * capBytes;

/**
 * Reads the body of a request; undefined when it passes the cap. What is over the cap is read on and thrown away, since
 * an answer sent before the client has finished writing can be lost to a reset connection.
 */
export function readRequestBody(stream: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    stream.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= capBytes) pieces.push(piece);
      else pieces.length = 0;
      if (length > drainBytes) stream.destroy();
    });
    stream.once('end', () => {
      resolve(length > capBytes ? undefined : Buffer.concat(pieces, length));
    });
    stream.once('error', (error) => {
      reject(new ClientLeft(error));
    });
    stream.once('close', () => {
      reject(new ClientLeft());
    });
  });
}

/** A request that breaks off is no error of the service. */
export class ClientLeft extends Error {
  constructor(cause?: Error) {
    super('the client closed the connection', { cause });
  }
}
