import { asBuffer, type ByteScanner, type ByteSpan, carryBytes } from './split-lines.ts';
import {
  backslash,
  carriageReturn,
  closeBrace,
  closeBracket,
  comma,
  lineFeed,
  openBrace,
  openBracket,
  quote,
} from '../ascii.ts';

export interface ScanJsonArrayOptions {
  /** The longest element that is kept whole, in bytes. */
  readonly longest: number;
  /** Called with the bytes of each element, without surrounding whitespace. They are not checked to be JSON. */
  readonly onElement: (span: ByteSpan) => void;
  /** Makes the error for text that is not one whole array, with the line where that shows. */
  readonly fault: (why: string, line: number) => Error;
}

/**
 * Cuts the bytes of one JSON array into its elements, without building values: an array of any length costs no more
 * memory than its longest element, and that no more than `longest`. An empty place between two commas is no element.
 */
export function scanJsonArray(options: ScanJsonArrayOptions): ByteScanner {
  const { fault } = options;
  const span: ByteSpan = { bytes: Buffer.alloc(0), start: 0, end: 0, line: 1, cut: false };
  const carry = carryBytes(options.longest);
  let place: 'before' | 'inside' | 'after' = 'before';
  let depth = 0;
  let inString = false;
  let escaped = false;
  let inElement = false;
  let line = 1;
  let afterReturn = false;

  const countLine = (byte: number): void => {
    if (byte === carriageReturn || !afterReturn) line += 1;
    afterReturn = byte === carriageReturn;
  };

  const emit = (bytes: Buffer, start: number, end: number): void => {
    if (!inElement) return;
    inElement = false;
    span.bytes = bytes;
    span.start = start;
    span.end = end;
    span.cut = false;
    if (!carry.isEmpty() || end - start > options.longest) {
      carry.add(bytes, start, end);
      carry.moveTo(span);
    }
    while (span.end > span.start && isBlank(span.bytes[span.end - 1] ?? 0)) span.end -= 1;
    options.onElement(span);
  };

  const outside = (byte: number): void => {
    if (place === 'before' && byte === openBracket) place = 'inside';
    else if (place === 'before') throw fault('it does not start with [', line);
    else throw fault('there is text after the closing ]', line);
  };

  /** True when the byte ends an element. */
  const structure = (byte: number): boolean => {
    if (byte === openBracket || byte === openBrace) depth += 1;
    else if (depth > 0) depth -= byte === closeBracket || byte === closeBrace ? 1 : 0;
    else if (byte === comma) return true;
    else if (byte === closeBracket) {
      place = 'after';
      return true;
    }
    return false;
  };

  /** The index of the quote that ends the string, or of the last byte there is. */
  const stringEnd = (bytes: Buffer, from: number): number => {
    let isEscaped = escaped;
    let index = from;
    for (; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (isEscaped) isEscaped = false;
      else if (byte === backslash) isEscaped = true;
      else if (byte === quote) {
        inString = false;
        afterReturn = false;
        break;
      }
      // JSON allows no line end in a string, but the line count includes them.
      if (byte === lineFeed || byte === carriageReturn) countLine(byte);
    }
    escaped = isEscaped;
    return index;
  };

  return {
    push(pushed) {
      const bytes = asBuffer(pushed);
      let start = 0;
      for (let index = 0; index < bytes.length; index += 1) {
        const byte = bytes[index] ?? 0;
        if (inString) {
          index = stringEnd(bytes, index);
          continue;
        }
        if (isBlank(byte)) {
          if (byte === lineFeed || byte === carriageReturn) countLine(byte);
          continue;
        }
        afterReturn = false;
        if (place !== 'inside') {
          outside(byte);
          continue;
        }
        if (structure(byte)) {
          emit(bytes, start, index);
          continue;
        }
        if (!inElement) {
          inElement = true;
          span.line = line;
          start = index;
        }
        inString = byte === quote;
      }
      if (inElement) carry.add(bytes, start, bytes.length);
    },
    end() {
      if (place === 'before') return;
      if (place === 'inside') throw fault('the closing ] is missing; the file may be truncated', line);
    },
  };
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === lineFeed || byte === carriageReturn || byte === 9;
}
