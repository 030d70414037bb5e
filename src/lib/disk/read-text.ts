import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf, ExportError } from '../export-error.ts';

const mostBytes = 1 << 24;

/** How long a pipe may be silent. */
const patienceMs = 10_000;
const lookMs = 10;

/**
 * The text of a small file, such as a job or a key, or of a pipe that its writer ends.
 * @throws {ExportError} `usage` for a device, for more than 16 MB, and for a pipe that is silent; else what the system says
 */
export function readSmallText(path: string): string {
  // Without waiting: a pipe that nobody writes to would keep it waiting for ever.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (found.isCharacterDevice() || found.isBlockDevice()) throw unread(path, 'it is a device');
    const pieces: Buffer[] = [];
    let bytes = 0;
    for (let piece = pieceOf(file, path); piece.length > 0; piece = pieceOf(file, path)) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > mostBytes) throw unread(path, 'it is larger than 16 MB');
    }
    return Buffer.concat(pieces).toString('utf8');
  } finally {
    closeSync(file);
  }
}

function pieceOf(file: number, path: string): Buffer {
  const piece = Buffer.allocUnsafe(65_536);
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
    try {
      return piece.subarray(0, readSync(file, piece));
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookMs);
    }
  }
  throw unread(path, 'it is a pipe that stays silent');
}

function unread(path: string, why: string): ExportError {
  return new ExportError('usage', `cannot read ${path}: ${why}`, { todo: 'Name a plain file.' });
}
