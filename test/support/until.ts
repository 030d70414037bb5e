import { vi } from 'vitest';

/**
 * Looks again until what is expected holds. Its limit is that of a test, less what a failure needs to say what does not hold: a shorter
 * one would measure how busy the machine is.
 */
export async function until(holds: () => Promise<void>): Promise<void> {
  await vi.waitFor(holds, { timeout: 55_000, interval: 20 });
}
