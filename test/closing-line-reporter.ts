import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { sampleOf } from './model/support/sample.ts';

/**
 * Prints `N passed, N failed, N skipped` alone on the last line, so that a log's tail says how the tests ended. The line before
 * it says how to repeat the sample of the models.
 */
export default class ClosingLineReporter implements Reporter {
  #sample = '';

  onInit({ config }: Vitest): void {
    const { step, offset } = sampleOf({ ...process.env, ...config.env });
    if (step > 1)
      this.#sample = `Models strike every ${step}th operation; MODEL_OFFSET=${offset} repeats this sample.\n`;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && module.children.size === 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state] += 1;
      }
    }
    process.stdout.write(
      `\n${this.#sample}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}
