import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RawServer {
  /** `host:port` on loopback. */
  readonly at: string;
  readonly port: number;
  /** Connections that are open now. */
  readonly open: () => number;
  /** Connections that were ever made. */
  readonly connections: () => number;
  /** All bytes that came in, as text of one byte a character. */
  readonly heard: () => string;
}

/** A server that takes connections and does with them what the test says; by default nothing. It goes when the test ends. */
export async function rawServer(serve: (socket: Socket) => void = () => undefined): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  let heard = '';
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('data', (bytes) => (heard += bytes.toString('latin1')));
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    serve(socket);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const port = await portOf(server);
  return {
    at: `127.0.0.1:${port}`,
    port,
    open: () => sockets.size,
    connections: () => connections,
    heard: () => heard,
  };
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A proxy that answers every CONNECT with this head, and closes. */
export function refusingProxy(head: string): Promise<RawServer> {
  return rawServer((socket) => {
    socket.once('data', () => socket.end(`${head}\r\ncontent-length: 0\r\n\r\n`));
  });
}

/** A SOCKS server that answers each message of a client with the next of these, and then says nothing more. */
export function socksServer(...answers: readonly (readonly number[])[]): Promise<RawServer> {
  return rawServer((socket) => {
    let next = 0;
    socket.on('data', () => {
      const answer = answers[next];
      next += 1;
      if (answer !== undefined) socket.write(Buffer.from(answer));
    });
  });
}

/** A SOCKS server that tunnels to one port on loopback; with a user and a password only. */
export function tunnellingSocks(port: number, user?: string): Promise<RawServer> {
  return rawServer((socket) => {
    const steps = [
      () => socket.write(Buffer.from([5, user === undefined ? 0 : 2])),
      ...(user === undefined ? [] : [(bytes: Buffer) => socket.write(Buffer.from([1, bytes.includes(user) ? 0 : 1]))]),
      () => {
        const upstream = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
          socket.removeAllListeners('data');
          upstream.pipe(socket).pipe(upstream);
        });
        upstream.on('error', () => socket.destroy());
        socket.on('close', () => upstream.destroy());
      },
    ];
    socket.on('data', (bytes) => steps.shift()?.(bytes));
  });
}

/**
 * A port that takes no more connections: the queue of its listener is full, and nobody accepts.
 * @param wakesAfterMs accepts after so long: a connect stands when it is tried again, a second after it began
 */
export async function blackHole(wakesAfterMs = Number.POSITIVE_INFINITY): Promise<string> {
  const listener = spawn(process.execPath, [
    '-e',
    "const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))",
  ]);
  const fillers: Socket[] = [];
  onTestFinished(() => {
    for (const socket of fillers) socket.destroy();
    listener.kill('SIGKILL');
  });
  const [printed] = (await once(listener.stdout, 'data')) as [Buffer];
  const port = Number(printed.toString());
  listener.kill('SIGSTOP');
  // A connect that hangs shows that the queue is full.
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(socket);
    isFull = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) =>
        setTimeout(() => {
          resolve(true);
        }, 200),
      ),
    ]);
  }
  if (wakesAfterMs < Number.POSITIVE_INFINITY) setTimeout(() => listener.kill('SIGCONT'), wakesAfterMs);
  return `127.0.0.1:${port}`;
}
