import { asBuffer, type ByteScanner, type ByteSpan, carryBytes } from './split-lines.ts';
import { mostJsonDepth } from '../json/json.ts';
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

export interface ScanJsonOptions {
  /** The longest element that is kept whole, in bytes. */
  readonly longest: number;
  /** Called with the bytes of each element, without surrounding whitespace. They are not checked to be JSON. */
  readonly onElement: (span: ByteSpan) => void;
  /** Whether an array in an array is opened, too, instead of being one element. */
  readonly opensInner?: boolean;
  /** Called at the end of each array that was opened, with the number of its elements. */
  readonly onArray?: (elements: number) => void;
  /** Makes the error for text outside of arrays and objects, or one that has no end, with the line where that shows. */
  readonly fault: (why: string, line: number) => Error;
}

/**
 * Cuts the bytes of JSON arrays and objects that follow one another into elements, without building values: an array of any
 * length costs no more memory than its longest element, and that no more than `longest`. An object outside of an array is an
 * element; an empty place between two commas is none.
 */
export function scanJson(options: ScanJsonOptions): ByteScanner {
  const { fault, opensInner = false } = options;
  const span: ByteSpan = { bytes: Buffer.alloc(0), start: 0, end: 0, line: 1, cut: false };
  const carry = carryBytes(options.longest);
  /** Elements of the arrays that are open, the outermost first. */
  const open: number[] = [];
  /** Brackets that are open in the element. */
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

  const requireShallow = (): void => {
    if (open.length + depth > mostJsonDepth) throw fault(`it is nested deeper than ${mostJsonDepth} levels`, line);
  };

  const emit = (bytes: Buffer, start: number, end: number): void => {
    inElement = false;
    if (open.length > 0) open[open.length - 1] = (open.at(-1) ?? 0) + 1;
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

  /** Takes a byte that stands between elements. True when it begins none. */
  const between = (byte: number): boolean => {
    if (byte === comma) return true;
    if (byte === closeBracket && open.length > 0) {
      const elements = open.pop() ?? 0;
      options.onArray?.(elements);
      return true;
    }
    if (byte === openBracket && (open.length === 0 || opensInner)) {
      open.push(0);
      requireShallow();
      return true;
    }
    if (open.length > 0 || byte === openBrace) return false;
    throw fault('unexpected text outside of [ ] and { }', line);
  };

  /** True when the byte ends the element; it may be the last of an object outside of arrays, or what follows it in an array. */
  const ends = (byte: number): boolean => {
    if (byte === openBracket || byte === openBrace) {
      depth += 1;
      requireShallow();
    } else if (depth > 0) {
      depth -= byte === closeBracket || byte === closeBrace ? 1 : 0;
      return depth === 0 && open.length === 0;
    } else return byte === comma || byte === closeBracket;
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
        if (!inElement) {
          if (between(byte)) continue;
          inElement = true;
          span.line = line;
          start = index;
        }
        if (ends(byte)) {
          const isOutside = open.length === 0;
          emit(bytes, start, isOutside ? index + 1 : index);
          if (!isOutside) between(byte);
          continue;
        }
        inString = byte === quote;
      }
      if (inElement) carry.add(bytes, start, bytes.length);
    },
    end() {
      const closing = open.length > 0 ? ']' : inElement ? '}' : undefined;
      if (closing !== undefined) throw fault(`the closing ${closing} is missing; the file may be truncated`, line);
    },
  };
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === lineFeed || byte === carriageReturn || byte === 9;
}
