/** A number as JavaScript's shortest text that reads back the same; minus zero keeps its sign. */
export function numberText(value: number | bigint): string {
  return value === 0 && Object.is(value, -0) ? '-0' : String(value);
}
