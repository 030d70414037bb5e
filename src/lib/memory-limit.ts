import { totalmem } from 'node:os';

/** The bytes that this process may use: those of its container, or of the machine. */
export function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
