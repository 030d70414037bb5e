export interface WorkToCleanUp<T> {
  readonly work: () => Promise<T>;
  /** True for a result that reports a failure. */
  readonly hasFailed?: (result: T) => boolean;
  /** Each step runs, whatever the others do. `result` is undefined when the work threw. */
  readonly cleanUp: readonly ((result: T | undefined) => Promise<void>)[];
}

/**
 * Runs some work, then cleans up behind it. The first cause wins: an error of a step is thrown only where the work and the
 * steps before it went well.
 */
export async function thenCleanUp<T>({ work, hasFailed, cleanUp }: WorkToCleanUp<T>): Promise<T> {
  const [done] = await Promise.allSettled([work()]);
  const result = done.status === 'fulfilled' ? done.value : undefined;
  const failures: unknown[] = [];
  for (const step of cleanUp) {
    try {
      await step(result);
    } catch (error) {
      failures.push(error);
    }
  }
  if (done.status === 'rejected') throw done.reason;
  if (failures.length > 0 && hasFailed?.(done.value) !== true) throw failures[0];
  return done.value;
}
