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
  ...['"id":"x",', '"extra":1,', '"error":{},', '"group_key":"collection",', '"value":[1,2],', '"odd":{"a":"b"},'],
  ...['"content":{},', '"burnt":null,', '"interface":"V9",', ',"position":7', '=', '+', '@', '＝', "'", ',,', '"",'],
];

/** The text with one to four places changed: bytes left out, put in, put elsewhere, or twice. */
export function mutated(text: string, random: (below: number) => number): string {
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
