/**
 * The text of a record on one line. Line breaks stand only between tokens (inside a string they are escapes), where
 * nothing may be joined by taking them out.
 */
export function rawLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\n\r]+/g, '') : text;
}
