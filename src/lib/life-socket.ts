import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { basename, dirname } from 'node:path';
import { codeOf } from './export-error.ts';

/**
 * Shows that this process lives, where pids do not tell: containers that share a folder do not see each other's
 * processes. The kernel takes calls of an owner that is busy or stopped, and refuses them as soon as it is gone, however
 * it ended.
 */
export interface LifeSocket {
  close(): void;
}

/** Listens at a path that nobody had before; undefined where the system or the file system knows no such sockets. */
export async function openLifeSocket(path: string): Promise<LifeSocket | undefined> {
  const server = createServer((caller) => caller.destroy()).unref();
  // Who calls asks the kernel: that a call cannot be taken here is no matter.
  server.on('error', () => undefined);
  try {
    await inFolder(path, async (short) => {
      server.listen({ path: short, exclusive: true, writableAll: true });
      await once(server, 'listening');
    });
  } catch {
    return undefined;
  }
  return {
    close: () => {
      rmSync(path, { force: true });
      server.close();
    },
  };
}

/** Whether the process that opened the socket lives. One that is not there says no. */
export async function answersAt(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  try {
    await inFolder(path, async (short) => {
      const call = connect({ path: short });
      await once(call, 'connect');
      call.destroy();
    });
    return true;
  } catch (error) {
    // Anything else comes from one who lives: too many call at once, or it may not be spoken to.
    return codeOf(error) !== 'ECONNREFUSED' && codeOf(error) !== 'ENOENT';
  }
}

/** A socket's path may have some hundred bytes; through its open folder it is as short as its name. See unix(7). */
async function inFolder(path: string, work: (short: string) => Promise<void>): Promise<void> {
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    await work(`/proc/self/fd/${folder}/${basename(path)}`);
  } finally {
    closeSync(folder);
  }
}
