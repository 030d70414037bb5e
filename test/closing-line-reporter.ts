import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { sampleOf } from './model/support/sample.ts';

/**
 * Prints `N passed, N failed, N skipped` alone on the last line, so that a log's tail says how the tests ended. The lines before
 * it say which files cost most, how to repeat the sample of the models, and what `npm run check` found where it ran beside the tests.
 */
export default class ClosingLineReporter implements Reporter {
  readonly #checks: boolean;
  #checked: Promise<string> | undefined;
  #sample = '';

  constructor({ checks = false }: { readonly checks?: boolean } = {}) {
    this.#checks = checks;
  }

  onInit({ config }: Vitest): void {
    const { step, offset } = sampleOf({ ...process.env, ...config.env });
    if (step > 1)
      this.#sample = `Models strike every ${step}th operation; MODEL_OFFSET=${offset} repeats this sample.\n`;
    if (this.#checks) this.#checked = checked();
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && module.children.size === 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state] += 1;
      }
    }
    const check = (await this.#checked) ?? '';
    process.stdout.write(
      `\n${dearest(modules)}${check}${this.#sample}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}

/** The files that took most CPU time, a line each, and the sum of all: five, or as many as `DEAREST` says. */
function dearest(modules: readonly TestModule[]): string {
  const files = modules
    .map((module) => ({ path: module.relativeModuleId, cpuSeconds: module.meta().cpuSeconds ?? 0 }))
    .sort((a, b) => b.cpuSeconds - a.cpuSeconds);
  const total = files.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const lines = files
    .slice(0, Number(process.env['DEAREST'] ?? 5))
    .map(({ path, cpuSeconds }) => `${cpuSeconds.toFixed(1).padStart(7)} s  ${path}\n`);
  return `${files.length} files took ${total.toFixed(0)} s of CPU, most of it:\n${lines.join('')}`;
}

/** Runs `npm run check`. Resolves to one line, or to all that it prints where it fails: then the tests fail, too. */
async function checked(): Promise<string> {
  const child = spawn('npm', ['run', '--silent', 'check'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode === 0) return 'npm run check: no mistake\n';
  process.exitCode = 1;
  return `${stdout}${stderr}\nnpm run check: failed\n`;
}
