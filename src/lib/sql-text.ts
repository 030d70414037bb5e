/** A name in standard SQL. */
export function doubleQuoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A name where backticks quote. */
export function backQuoted(name: string): string {
  return `\`${name.replaceAll('`', '\\`')}\``;
}

/** A string literal of standard SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A string literal where a backslash escapes. */
export function escapedLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
