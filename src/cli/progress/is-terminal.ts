/** Whether a person reads a stream on a terminal that can redraw lines. CI systems and `TERM=dumb` cannot. */
export function isTerminal(
  stream: { readonly isTTY?: boolean },
  { CI = '', TERM = '' }: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && TERM !== 'dumb' && ['', 'false', '0'].includes(CI);
}
