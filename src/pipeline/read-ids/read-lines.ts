import { isAssetIdAt } from '../../assets/asset-id.ts';
import { type ByteScanner, splitLines } from '../../lib/split-lines.ts';
import { cleanId } from './clean-id.ts';
import type { EntryBlocks } from './entry-blocks.ts';

/** Longest line that may still hold an id among blanks, in bytes. */
const longestLine = 65_536;

/** Reads an id a line. */
export function readLines(entries: EntryBlocks): ByteScanner {
  return splitLines({
    longest: longestLine,
    onLine(span) {
      const { bytes, start, end, line } = span;
      if (span.cut) {
        const beginning = cleanId(bytes.toString('utf8', start, Math.min(end, start + 1000)));
        entries.addInvalid(beginning, line, `a line of more than ${longestLine} bytes`);
      } else if (isAssetIdAt(bytes, start, end)) entries.addExact(span);
      else if (end > start) entries.addText(bytes.toString('utf8', start, end), line);
    },
  });
}
