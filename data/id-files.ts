import type { SampleEntry } from './sample-ids.ts';

const zeroWidthSpace = '\u200b';
const byteOrderMark = '\ufeff';

/** An id a line, as such lists come: a BOM, a few CRLF, blank lines, blanks, quotes and a zero-width space around ids. */
export function linesText(entries: readonly SampleEntry[]): string {
  const lines = entries.map(({ text }, index) => {
    if (index % 97 === 3) return `  ${text}\t\n`;
    if (index % 89 === 4) return `"${text}"\n`;
    if (index % 211 === 5) return `${zeroWidthSpace}${text}\n`;
    if (index % 151 === 6) return `${text}\n\n`;
    return index % 50 < 3 ? `${text}\r\n` : `${text}\n`;
  });
  return byteOrderMark + lines.join('');
}

/** One array of strings, an id a line: what snapshot tools write. */
export function hashlistText(entries: readonly SampleEntry[]): string {
  return `${JSON.stringify(
    entries.map(({ text }) => text),
    null,
    2,
  )}\n`;
}

/** A sheet with the ids in its column `mint`; quoted cells hold commas, quotes and line breaks. */
export function csvText(entries: readonly SampleEntry[]): string {
  const rows = entries.map(({ text }, index) => {
    const title = index % 40 === 7 ? '"The ""Old"" Ferry, restored"' : `Lot ${index + 1}`;
    const note = index % 60 === 11 ? '"seen twice\nby the harbour"' : '';
    return `${index + 1},${title},${index % 25 === 2 ? `"${text}"` : text},${note}\n`;
  });
  return `lot,title,mint,note\n${rows.join('')}`;
}

/** A JSON object a line with the id in `id`, other members before or behind it. */
export function jsonlText(entries: readonly SampleEntry[]): string {
  const lines = entries.map(({ text: id }, index) =>
    JSON.stringify(
      index % 3 === 0 ? { wallet: null, id } : { id, tags: ['spring', { id: 'not this one' }], lot: index },
    ),
  );
  return `${lines.join('\n')}\n`;
}
