/// <reference lib="es2024.string" />

/** False when the text holds a lone surrogate, which UTF-8 has no form for: encoding it gives U+FFFD. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** The text with U+FFFD for each lone surrogate. */
export function toWellFormed(text: string): string {
  return text.toWellFormed();
}
