import { longestId } from '../asset-id.ts';
import { type ByteScanner, type ByteSpan, splitLines } from '../../lib/scan/split-lines.ts';
import { cleanId } from '../clean-id.ts';
import type { EntryBlocks } from './entry-blocks.ts';

/** Longest line that may still hold an id among blanks, in bytes. */
const longestLine = 65_536;

/** Reads an id a line. */
export function readLines(entries: EntryBlocks): ByteScanner {
  return splitLines({
    longest: longestLine,
    onStart: (span) => addUsual(entries, span),
    onLine(span) {
      const { bytes, start, end, line } = span;
      if (span.cut) {
        const beginning = cleanId(bytes.toString('utf8', start, Math.min(end, start + 1000)));
        entries.addInvalid(beginning, line, `a line of more than ${longestLine} bytes`);
      } else if (entries.findId(bytes, start, end)) entries.addFound(line);
      else if (end > start) entries.addText(bytes.toString('utf8', start, end), line);
    },
  });
}

/** Takes a line that holds nothing but an id of a usual length: its digits are read once, to check, to hash and to pass over. */
function addUsual(entries: EntryBlocks, span: ByteSpan): boolean {
  const { bytes, start, line } = span;
  // The end is guessed: where it is not the first line break of the line, the check fails.
  const end = isLineBreakAt(bytes, start + longestId) ? start + longestId : start + longestId - 1;
  if (!isLineBreakAt(bytes, end) || !entries.findId(bytes, start, end)) return false;
  span.end = end;
  entries.addFound(line);
  return true;
}

function isLineBreakAt(bytes: Uint8Array, index: number): boolean {
  if (index >= bytes.length) return false;
  const byte = bytes[index];
  return byte === 10 || byte === 13;
}
