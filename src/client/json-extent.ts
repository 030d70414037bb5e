// The text given here is the latin1 view of UTF-8 bytes: one character a byte, so positions in it are positions in the
// bytes, and every character that JSON gives a meaning to is itself.

const quote = 0x22;
const backslash = 0x5c;

/** The position of the first character at or after `at` that is no JSON white space. */
export function skipBlanks(text: string, at: number): number {
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/**
 * Where the JSON value that begins at `at` ends (exclusive), or -1 when the text ends before it does. Only quotes and
 * brackets are looked at: whether it *is* a value, parsing it tells.
 */
export function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === quote) return stringEnd(text, at);
  return first === 0x7b || first === 0x5b ? nestedEnd(text, at) : scalarEnd(text, at);
}

/** Jumps from quote to quote, which is a search in native code; a quote behind an odd number of backslashes is none. */
export function stringEnd(text: string, at: number): number {
  for (let end = at; ; ) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return -1;
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if (((end - before) & 1) === 1) return end + 1;
  }
}

function nestedEnd(text: string, at: number): number {
  let depth = 0;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = stringEnd(text, at);
      if (at < 0) return -1;
      continue;
    }
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (Number.isNaN(code)) return -1;
    at += 1;
  }
}

function scalarEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && !',]} \n\r\t'.includes(text.charAt(end))) end += 1;
  return end === at || end === text.length ? -1 : end;
}
