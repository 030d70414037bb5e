/** Whether bytes hold others at a place. */
export function holdsAt(bytes: Uint8Array, at: number, others: Uint8Array): boolean {
  // From the end: texts at one place often begin alike.
  for (let index = others.length - 1; index >= 0; index -= 1) if (bytes[at + index] !== others[index]) return false;
  return true;
}
