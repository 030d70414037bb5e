/**
 * Gives memory back that nobody reads any more. What is large waits for a full collection; moved to a new buffer that
 * nobody keeps, it goes with the next small one.
 */
export function letGo(memory: ArrayBuffer): void {
  structuredClone(memory, { transfer: [memory] });
}
