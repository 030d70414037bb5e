import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/** `npm run test:fast` starts no program: a test that needs one belongs to the list in vitest.config.ts. */
function refuse(): never {
  throw new Error('test:fast starts no program: leave this file out in vitest.config.ts');
}

for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const)
  Object.assign(childProcess, { [name]: refuse });
syncBuiltinESMExports();
