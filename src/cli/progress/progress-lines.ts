import { wrapText } from '../../lib/format-text.ts';

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
