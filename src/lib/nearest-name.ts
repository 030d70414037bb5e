import { closest, distance } from 'fastest-levenshtein';

/** The name that was probably meant, or undefined when none is near. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const near = closest(given, [...names]);
  return distance(given, near) <= (given.length < 4 ? 1 : Math.max(2, Math.floor(given.length / 3))) ? near : undefined;
}
