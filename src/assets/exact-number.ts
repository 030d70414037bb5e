/**
 * A JSON number that JavaScript would print differently from how it came (u64, `1e400`, `1.0`, `-0`): it keeps its text.
 * Recognised with `instanceof`: no member of a hostile record can pass for one.
 */
export class ExactNumber {
  /** The number as it stood in the JSON text. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** How often JSON.stringify has met an exact number: it cannot print one, so whoever prints looks here. */
  static met = 0;

  toJSON(): number {
    ExactNumber.met += 1;
    return Number(this.text);
  }
}

/** A number of a JSON text: a JavaScript number where it is printed back as it came, else exact. */
export function numberOf(text: string): number | ExactNumber {
  const value = Number(text);
  return String(value) === text ? value : new ExactNumber(text);
}

/** The digits of a number as JSON writes them. */
export function numberText(value: number | ExactNumber): string {
  if (value instanceof ExactNumber) return value.text;
  return Object.is(value, -0) ? '-0' : String(value);
}
