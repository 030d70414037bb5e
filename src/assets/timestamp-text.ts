/** A `timestamp` cell as ISO 8601 text in UTC, to the microsecond: `2026-01-31T23:59:59.123000Z`. */
export function timestampText(us: number): string {
  const ms = Math.floor(us / 1000);
  const rest = String(us - ms * 1000).padStart(3, '0');
  return `${new Date(ms).toISOString().slice(0, -1)}${rest}Z`;
}
