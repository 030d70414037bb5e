import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** For `unshare`. */
export const containerFlags = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];

/** Whether this system lets a process have pids of its own. */
export const hasContainers = spawnSync('unshare', [...containerFlags, 'true']).status === 0;

/** Starts a module of JavaScript as the first process of a container: each has pid 1. It ends with the test. */
export function startInContainer(script: string, args: readonly string[]): ChildProcess {
  const node = [process.execPath, '--input-type=module', '-e', script, ...args];
  const child = spawn('unshare', [...containerFlags, ...node], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** The first text on its stdout; none when it ends without. */
export async function saidBy(child: ChildProcess): Promise<string> {
  for await (const bytes of child.stdout ?? []) return String(bytes).trim();
  return '';
}
