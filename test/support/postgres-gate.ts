import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A way to a PostgreSQL server over TCP, on which answers can be lost, and which can be closed for a time. */
export interface PostgresGate {
  readonly address: string;
  /** The next answers to statements are lost, and their connections break. */
  loseAnswers(count: number): void;
  /** Breaks all connections, and each new one as soon as it is made. */
  close(): void;
  open(): void;
}

/** @param address of the server, on a socket in a folder */
export async function throughGate(address: string): Promise<PostgresGate> {
  const folder = new URL(address).searchParams.get('host') ?? '';
  const sockets = new Set<Socket>();
  let lost = 0;
  let isClosed = false;
  const gate = createServer((socket) => {
    if (isClosed) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    const upstream = connect(join(folder, '.s.PGSQL.5432'));
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    upstream.on('data', (bytes) => {
      // What a new connection says first is no answer to a statement.
      const isAnswer = bytes.includes('SELECT');
      if (isAnswer && lost > 0) {
        lost -= 1;
        socket.destroy();
      } else socket.write(bytes);
    });
  });
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  onTestFinished(() => void gate.close());
  const { port } = gate.address() as AddressInfo;
  return {
    address: `postgres://tester@127.0.0.1:${port}/postgres`,
    loseAnswers: (count) => {
      lost = count;
    },
    close: () => {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
    },
    open: () => {
      isClosed = false;
    },
  };
}
