import { closeSync, constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';
import { codeOf } from '../export-error.ts';

/**
 * Shows that this process is alive where pids cannot: containers that share a folder do not see each other's processes. The kernel
 * accepts calls to a process that is busy or stopped, and refuses them as soon as the process has ended, however it ended.
 */
export interface LifeSocket {
  close(): void;
}

/** Added to the name of a socket that does not listen yet. */
export const openingSuffix = '.opening';

/**
 * Listens at a path that nobody had before. The name appears once the socket listens: between bind and listen it would refuse
 * calls as the socket of a dead process does.
 * @returns undefined where the system or the file system has no such sockets
 */
export async function openLifeSocket(path: string): Promise<LifeSocket | undefined> {
  for (let attempts = 3; attempts > 0; attempts -= 1) {
    const server = createServer((caller) => caller.destroy()).unref();
    // A caller only needs the kernel's answer. A call that cannot be accepted here does not matter.
    server.on('error', () => undefined);
    try {
      await listenAt(server, `${path}${openingSuffix}`);
      renameSync(`${path}${openingSuffix}`, path);
      return {
        close: () => {
          closeAt(server, path);
        },
      };
    } catch (error) {
      server.close();
      // Another process cleaned up and removed the name before the socket listened: try again.
      if (codeOf(error) !== 'ENOENT') return undefined;
    }
  }
  return undefined;
}

async function listenAt(server: Server, path: string): Promise<void> {
  await inFolder(path, async (short) => {
    server.listen({ path: short, exclusive: true, writableAll: true });
    await once(server, 'listening');
  });
}

function closeAt(server: Server, path: string): void {
  server.close();
  try {
    rmSync(path, { force: true });
  } catch {
    // A socket that nobody listens at belongs to a dead process. The next owner removes it.
  }
}

/** Whether the process that opened the socket is alive; false where there is no socket. */
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
    // Any other error comes from a live process: too many calls at once, or no permission.
    return codeOf(error) !== 'ECONNREFUSED' && codeOf(error) !== 'ENOENT';
  }
}

/** The path of a socket is limited to about 100 bytes; through its open folder it is as short as its name. See unix(7). */
async function inFolder(path: string, work: (short: string) => Promise<void>): Promise<void> {
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    await work(`/proc/self/fd/${folder}/${basename(path)}`);
  } finally {
    closeSync(folder);
  }
}
