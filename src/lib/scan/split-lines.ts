import { carriageReturn, lineFeed } from '../ascii.ts';

/** One line, or one element of an array. It is valid only during the callback. */
export interface ByteSpan {
  bytes: Buffer;
  start: number;
  end: number;
  /** Line on which it starts, from 1. */
  line: number;
  /** True if it is longer than the limit: `bytes` holds only its beginning. */
  cut: boolean;
}

export interface SplitLinesOptions {
  /** The longest line that is kept whole, in bytes. */
  readonly longest: number;
  readonly onLine: (span: ByteSpan) => void;
  /**
   * Asked where a line starts. It may take the line itself, when it knows where it ends: it gives true, and `end` is the
   * place of the first line break. Otherwise the line is looked for and goes to `onLine`.
   */
  readonly onStart?: (span: ByteSpan) => boolean;
}

/** Takes bytes as they come, in pieces of any size. */
export interface ByteScanner {
  push(bytes: Uint8Array): void;
  /** Ends the stream: what is left is the last line or element. */
  end(): void;
}

/** Cuts bytes into lines at LF, CRLF and CR. A line of any length costs no more memory than `longest`. */
export function splitLines(options: SplitLinesOptions): ByteScanner {
  const span: ByteSpan = { bytes: Buffer.alloc(0), start: 0, end: 0, line: 1, cut: false };
  const carry = carryBytes(options.longest);
  let afterReturn = false;

  const emit = (bytes: Buffer, start: number, end: number): void => {
    if (carry.isEmpty() && end - start <= options.longest) {
      span.bytes = bytes;
      span.start = start;
      span.end = end;
      span.cut = false;
    } else {
      carry.add(bytes, start, end);
      carry.moveTo(span);
    }
    options.onLine(span);
    span.line += 1;
  };

  /** Takes all lines from `start` on that `onStart` takes; gives the start of the first that it does not take. */
  const taken = (bytes: Buffer, start: number): number => {
    if (options.onStart === undefined || !carry.isEmpty()) return start;
    span.bytes = bytes;
    span.start = start;
    span.cut = false;
    while (span.start < bytes.length && options.onStart(span)) {
      span.line += 1;
      span.start = behindBreak(bytes, span.end);
    }
    return span.start;
  };

  /** The index behind the line break at `index`. */
  const behindBreak = (bytes: Buffer, index: number): number => {
    if (bytes[index] === lineFeed) return index + 1;
    afterReturn = index + 1 === bytes.length;
    return bytes[index + 1] === lineFeed ? index + 2 : index + 1;
  };

  return {
    push(pushed) {
      const bytes = asBuffer(pushed);
      const length = bytes.length;
      let start = 0;
      if (afterReturn && length > 0) {
        afterReturn = false;
        if (bytes[0] === lineFeed) start = 1;
      }
      start = taken(bytes, start);
      for (let index = start; index < length; index += 1) {
        const byte = bytes[index] ?? 0;
        if (byte > carriageReturn || (byte !== lineFeed && byte !== carriageReturn)) continue;
        emit(bytes, start, index);
        start = taken(bytes, behindBreak(bytes, index));
        index = start - 1;
      }
      carry.add(bytes, start, length);
    },
    end() {
      if (!carry.isEmpty()) emit(Buffer.alloc(0), 0, 0);
    },
  };
}

/** Collects what is spread over several pieces, up to a limit; counts what goes beyond it. */
export function carryBytes(limit: number): {
  isEmpty(): boolean;
  add(bytes: Buffer, start: number, end: number): void;
  moveTo(span: ByteSpan): void;
} {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let seenBytes = 0;
  return {
    isEmpty: () => seenBytes === 0,
    add(bytes, start, end) {
      seenBytes += end - start;
      const stop = Math.min(end, start + limit - keptBytes);
      if (stop <= start) return;
      // A copy: the piece it lies in may be large, or be filled again.
      kept.push(Buffer.from(bytes.subarray(start, stop)));
      keptBytes += stop - start;
    },
    moveTo(span) {
      span.bytes = kept.length === 1 && kept[0] !== undefined ? kept[0] : Buffer.concat(kept, keptBytes);
      span.start = 0;
      span.end = keptBytes;
      span.cut = seenBytes > keptBytes;
      kept = [];
      keptBytes = 0;
      seenBytes = 0;
    },
  };
}

/** The same bytes as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
