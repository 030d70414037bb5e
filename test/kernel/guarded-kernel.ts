import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildKernel } from '../../build-kernel.ts';
import { Kernel } from '../../src/lib/kernel/kernel.ts';
import { paddingBytes } from '../../src/lib/kernel/slots.ts';

const guard = 0xa5;

/** Bytes behind a region that may be written, as the kernel writes sixteen at a time. */
const overshoot = 32;

/** The kernel of the build with checks, in which a read outside of the answer traps; and a write outside of a region is found out. */
export class GuardedKernel extends Kernel {
  #guards: { readonly from: number; readonly to: number }[] = [];

  override loadAnswer(answer: Uint8Array): void {
    this.requireGuards();
    super.loadAnswer(answer);
  }

  override regions(sizes: readonly number[]): number[] {
    this.requireGuards();
    const starts = super.regions(sizes);
    this.#guards = starts.map((start, index) => {
      const end = start + (sizes[index] ?? 0);
      return { from: end + overshoot, to: end + paddingBytes };
    });
    for (const { from, to } of this.#guards) this.bytes.fill(guard, from, to);
    return starts;
  }

  /** @throws {Error} when something was written behind a region */
  requireGuards(): void {
    for (const { from, to } of this.#guards) {
      for (let at = from; at < to; at += 1) {
        if (this.bytes[at] !== guard) throw new Error(`byte ${at - from + overshoot} behind a region was written`);
      }
    }
    this.#guards = [];
  }
}

/** Builds it. */
export function guardedKernel(): GuardedKernel {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'));
  try {
    const file = join(folder, 'checked.wasm');
    buildKernel(file, true);
    return new GuardedKernel(new WebAssembly.Module(readFileSync(file)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
