/** How the reason begins of an id that stays missing and was not requested again. Later exports read it back. */
const missingPattern = /^missing since (\d{4}-\d\d-\d\d(?:T\d\d:\d\dZ)?), /;

/** The reason of an id that stays missing. @param since a day (`2026-11-20`) or a minute (`2026-11-20T02:00Z`) */
export function missingReason(since: string, rest: string): string {
  return `missing since ${since}, ${rest}`;
}

/** Since when an id is missing, in milliseconds since 1970; undefined where the reason does not say it. */
export function missingSince(reason: unknown): number | undefined {
  const [, since] = typeof reason === 'string' ? (missingPattern.exec(reason) ?? []) : [];
  const ms = since === undefined ? Number.NaN : Date.parse(since);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The words of a service as a reason: in quotes where they begin as one of ours does. */
export function reasonOfService(words: string): string {
  return /^missing since /i.test(words) ? `“${words}”` : words;
}
