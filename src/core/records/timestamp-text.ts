/** A `timestamp` cell as ISO 8601 text in UTC, to the microsecond: `2026-01-31T23:59:59.123000Z`. */
export function timestampText(us: number): string {
  const ms = Math.floor(us / 1000);
  const rest = String(us - ms * 1000).padStart(3, '0');
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`;
}

/** The microseconds of such a text. */
export function timestampOf(text: string): number {
  return Date.parse(`${text.slice(0, -4)}Z`) * 1000 + Number(text.slice(-4, -1));
}
