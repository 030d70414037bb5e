// The tests below are known as those for a zero byte in a word and for a byte below a bound: the sums carry into the next
// byte only behind one that is met.

/** Whether one of four bytes equals the byte that `same` repeats four times. */
function holdsByte(four: number, same: number): boolean {
  const others = four ^ same;
  return ((others - 0x01010101) & ~others & 0x80808080) !== 0;
}

/** Whether one of four bytes is a quote, a backslash or below 0x20. */
export function holdsStop(four: number): boolean {
  return holdsByte(four, 0x22222222) || holdsByte(four, 0x5c5c5c5c) || ((four - 0x20202020) & ~four & 0x80808080) !== 0;
}
