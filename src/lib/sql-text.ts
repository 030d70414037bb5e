/** A name in standard SQL. */
export function doubleQuoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A name in Spark and Hive. */
export function backQuoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** A name in BigQuery and ClickHouse, where a backslash escapes. */
export function escapedBackQuoted(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

/** A string literal of standard SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A string literal where a backslash escapes. */
export function escapedLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
