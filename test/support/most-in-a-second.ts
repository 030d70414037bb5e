/** Most of the moments, in milliseconds, that lie in one second. */
export function mostInASecond(moments: readonly number[]): number {
  return Math.max(...moments.map((from) => moments.filter((ms) => ms >= from && ms < from + 1000).length));
}
