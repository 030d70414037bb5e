/** A generator of numbers below 2^32 that gives the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What mutations put in: tokens, escapes, numbers at the edges, names of members, bytes that end strings. */
const pieces = [
  ...[
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\n',
    '\t',
    '-',
    '.',
    '0',
    '1',
    'e',
    'u',
    '\u0000',
    '\u001f',
    'é',
    '😼',
  ],
  ...['\\n', '\\/', '\\"', '\\u0041', '\\u0000', '\\ud83d\\ude3c', '\\ud83d', '\\udc00', '\\u12', '\\x', '\\\\'],
  ...['null', 'true', 'false', '{}', '[]', '""', '[{}]', '{"a":1}', '[1, "2"]', '{"a":1,"a":2}', '{"7":1}', '[[[[]]]]'],
  ...['1e2', '1.0', '-0', '0.1', '18446744073709551615', '18446744073709551616', '9223372036854775808', '1e400'],
  ...['0.030000000000000002', '0.0000001', '123456789012345678', '-9223372036854775808', '1E+5', '0.10', '00', '1.'],
  ...[
    '"id":"x",',
    '"extra":1,',
    '"error":{},',
    '"group_key":"collection",',
    '"value":[1,2],',
    '"odd":{"a":"b","\\u0061":1},',
    '"\\u0031":1,',
  ],
  ...['"content":{},', '"burnt":null,', '"interface":"V9",', ',"position":7', '=', '+', '@', '＝', "'", ',,', '"",'],
];

const token = /"((?:[^"\\]|\\.)*)"(\s*:)?|-?\d+(?:\.\d+)?/g;

/** The same value, at any depth, with some names, texts and numbers in other spellings, and some names twice, each in its own. */
export function respelt(text: string, random: (below: number) => number): string {
  const rarity = 16 << random(5);
  return text.replaceAll(token, (whole: string, inner: string | undefined, colon = '') => {
    if (random(rarity) !== 0) return whole;
    if (inner === undefined) return otherNumber(whole, random);
    const other = `"${otherText(inner, random)}"${colon}`;
    if (colon === '' || random(2) === 0) return other;
    return `${random(2) === 0 ? whole : other}${['1', 'null', '"evil"', '[]'][random(4)] ?? ''},${random(2) === 0 ? whole : other}`;
  });
}

/** @param inner of a string, as JSON has it */
function otherText(inner: string, random: (below: number) => number): string {
  const at = random(inner.length);
  if (inner === '' || inner.slice(Math.max(0, at - 6), at + 1).includes('\\')) return inner;
  if (inner[at] === '/') return `${inner.slice(0, at)}\\/${inner.slice(at + 1)}`;
  const hex = inner.charCodeAt(at).toString(16).padStart(4, '0');
  return `${inner.slice(0, at)}\\u${random(2) === 0 ? hex : hex.toUpperCase()}${inner.slice(at + 1)}`;
}

function otherNumber(text: string, random: (below: number) => number): string {
  const fraction = text.includes('.') ? '0' : '.0';
  return (
    [`${text}${fraction}`, `${text}e0`, `${text}E+00`, `${text}0e-1`, `${text}.0e1`, '-0', '-0.0'][random(7)] ?? text
  );
}

/** The text with one to four places changed: bytes left out, put in, put elsewhere, or twice; or in other spellings. */
export function mutated(given: string, random: (below: number) => number): string {
  const isRespelt = random(3) === 0;
  const text = isRespelt ? respelt(given, random) : given;
  if (isRespelt && random(2) === 0) return text;
  let changed = text;
  for (let times = 1 + random(4); times > 0; times -= 1) {
    const at = random(changed.length + 1);
    const length = random(random(8) === 0 ? 64 : 4);
    const piece = random(3) === 0 ? changed.slice(at, at + random(64)) : (pieces[random(pieces.length)] ?? '');
    const kept = random(3);
    const left = kept === 0 ? changed.slice(0, at) : changed.slice(0, Math.max(0, at - (kept - 1)));
    changed = left + (random(4) === 0 ? '' : piece) + changed.slice(at + length);
  }
  return changed;
}
