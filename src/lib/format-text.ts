/** `12,345`. `toLocaleString` takes 12 ms when it is first used, which every run would wait for. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 file`, `2 files` */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `412 kB`: decimal units. */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toPrecision(3)} ${units[unit] ?? ''}`;
}

/** `350 ms`, `12.3 s`, `4 min 5 s`, `3 h 12 min`, `2 d 4 h` */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const units: readonly (readonly [number, string])[] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const first = units.findIndex(([size]) => seconds >= size);
  return units
    .slice(first, first + 2)
    .map(
      ([size, name], index) =>
        [Math.floor((index === 0 ? seconds : seconds % (units[first]?.[0] ?? 1)) / size), name] as const,
    )
    .filter(([value], index) => index === 0 || value > 0)
    .map(([value, name]) => `${value} ${name}`)
    .join(' ');
}

/** `62 %`, with one digit more where it matters. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '100 %';
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 10 ? `${percent.toFixed(1)} %` : `${Math.floor(percent)} %`;
}

/** Makes visible what a terminal would obey, controls and changes of direction: names and messages come from outside. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** The same of a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** A text without its middle where it is long: messages of other programs may hold a whole value. */
export function withoutMiddle(text: string, most = 1000): string {
  const end = Math.floor(most / 4);
  return text.length <= most ? text : `${text.slice(0, most - end)} … ${text.slice(-end)}`.toWellFormed();
}

/** Breaks a text at its blanks; a word that is too long stays whole. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const multiples: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6 };

/** The number of `3000000`, `3_000_000`, `3,000,000`, `3000k` or `3M`; undefined for any other text, and for `3.000`, which is 3 or 3,000. */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^[+-]?[1-9]\d{0,2}(\.\d{3})+$/.test(trimmed)) return undefined;
  const [, digits, unit = ''] = /^([+-]?(?:\d[\d_]*|\d{1,3}(?:,\d{3})+)(?:\.\d+)?)(k|m)?$/i.exec(trimmed) ?? [];
  if (digits === undefined) return undefined;
  const number = Number(digits.replaceAll(/[_,]/g, '')) * (multiples[unit.toLowerCase()] ?? 1);
  // 1.1M is 1100000.0000000002 by multiplication.
  return unit === '' ? number : Math.round(number);
}

/** Longer than any name: comparing it would take time for nothing. */
const longestGiven = 100;

/** The name that was probably meant, in any letter case, or undefined when none is near. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > longestGiven) return undefined;
  const wanted = given.toLowerCase();
  let nearest: string | undefined;
  let limit = given.length < 4 ? 1 : Math.max(2, Math.floor(given.length / 3));
  for (const name of names) {
    if (Math.abs(name.length - given.length) > limit) continue;
    const edits = editDistance(wanted, name.toLowerCase());
    if (edits > limit) continue;
    nearest = name;
    limit = edits - 1;
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = at(row, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swapped = isSwap ? at(previous, j - 2) + 1 : replaced;
      next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, replaced, swapped));
    }
    [previous, row] = [row, next];
  }
  return at(row, right.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar with its label, one column narrower than the terminal: a full line would wrap on some. */
export function progressBar(fraction: number, label: string, columns: number): string {
  const width = Math.max(4, columns - label.length - 2);
  const filled = Math.round(Math.min(1, Math.max(0, fraction)) * width * 8);
  const part = eighths[filled % 8] ?? '';
  const full = Math.floor(filled / 8);
  return `${'█'.repeat(full)}${part}${'░'.repeat(width - full - part.length)} ${label}`;
}

/** A line as a terminal of so many columns can show it. */
export function cutLine(line: string, columns: number): string {
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
}

/** Facts on as few lines as they need. None is broken. */
export function folded(facts: readonly string[], separator: string, columns: number): string[] {
  const whole = facts.map((fact) => fact.replaceAll(' ', held)).join(separator.replace(' ', held));
  return wrapText(whole, columns - 1).map((line) => line.replaceAll(held, ' '));
}

/** Stands for a blank at which no line may break. */
const held = '\u00a0';
