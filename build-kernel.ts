/** Makes `dist/kernel.wasm` of the AssemblyScript in `kernel/`. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** @param file where it goes @param hasChecks whether a read outside of the answer traps */
export function buildKernel(file: string = join(root, 'dist/kernel.wasm'), hasChecks = false): void {
  const options = [
    ...['--outFile', file, '-O3', '--runtime', 'stub', '--noAssert'],
    // Zeros of the module's own memory are left out of the file.
    ...['--enable', 'simd', '--zeroFilledMemory'],
    // No function with a vector is called from outside.
    ...['--disableWarning', '112'],
    ...(hasChecks ? ['--use', 'CHECKED=1'] : []),
  ];
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/assemblyscript/bin/asc.js'), 'kernel/index.ts', ...options],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
}
