import { share } from './format-text.ts';
import { wrapText } from './help-text.ts';

/** A bar and facts under it, on as few lines as they need; none is wider than `columns`, and no fact is broken. */
export function progressLines(fraction: number, facts: readonly (readonly string[])[], columns: number): string[] {
  return [bar(fraction, columns), ...facts.flatMap((each) => joined(each, columns))];
}

/** A line as a terminal of so many columns can show it. */
export function cut(line: string, columns: number): string {
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
}

function bar(fraction: number, columns: number): string {
  const label = ` ${share(Math.min(1, fraction), 1)}`;
  const width = Math.max(10, Math.min(60, columns - 8));
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * width);
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}${label}`;
}

function joined(facts: readonly string[], columns: number): string[] {
  const whole = facts.map((fact, index) => fact.replaceAll(' ', held) + (index < facts.length - 1 ? `${held}·` : ''));
  return wrapText(whole.join(' '), columns - 1).map((line) => line.replaceAll(held, ' '));
}

/** Stands for a blank at which no line may break. */
const held = '\u00a0';
