import { backslash, closeBrace, closeBracket, openBrace, openBracket, quote } from '../ascii.ts';

/** Deeper values are taken from nobody: warehouses keep a stack for each level. */
export const mostJsonDepth = 1000;

/** Whether JSON that lies in these bytes is nested deeper than `mostJsonDepth`. */
export function isTooDeep(bytes: Uint8Array, start: number, end: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === quote) inString = !inString;
    else if (inString) at += byte === backslash ? 1 : 0;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > mostJsonDepth) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}
