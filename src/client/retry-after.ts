/**
 * A `Retry-After` header as milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3); a past date is 0.
 * Undefined when it is absent or not understood.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  // A date begins with a weekday; Date.parse alone would also take "-1" or "2".
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
