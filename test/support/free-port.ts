import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems hand out: a server of another test that listens on port 0 never gets one of these. */
const ports = [20_000, 32_000] as const;

/** A port on which nothing listens: for a program that cannot choose its own, or an address that nobody answers. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...ports);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
