import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ServiceCounts } from '../batch-counts.ts';

export interface SpawnedService {
  readonly url: string;
  readonly pid: number;
  counts(): Promise<ServiceCounts>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('load-service.ts', import.meta.url));

/**
 * Starts `load-service.ts` with these flags, beside the test instead of inside it. It ends with the test at the
 * latest, even when that is killed.
 */
export async function spawnGeneratedService(flags: readonly string[] = []): Promise<SpawnedService> {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('ts-blank-space/register'), program, '--until-stdin-ends', ...flags],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [url] = (await Promise.race([
    once(lines, 'line'),
    ended.then(([code]) => {
      throw new Error(`The load service ended before it listened (exit ${String(code)}).`);
    }),
  ])) as [string];
  return {
    url,
    pid: child.pid ?? 0,
    counts: async () => (await (await fetch(`${url}/counts`)).json()) as ServiceCounts,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
