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
  /** Passes nothing on any more, and keeps the connections. */
  silence(): void;
  open(): void;
}

/** @param address of the server, on a socket in a folder */
export async function throughGate(address: string): Promise<PostgresGate> {
  const folder = new URL(address).searchParams.get('host') ?? '';
  const sockets = new Set<Socket>();
  let lost = 0;
  let state: 'open' | 'silent' | 'closed' = 'open';
  const gate = createServer((socket) => {
    if (state === 'closed') {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    const upstream = connect(join(folder, '.s.PGSQL.5432'));
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => upstream.destroy()).on('end', () => upstream.end());
    socket.on('data', (bytes) => {
      if (state !== 'silent') upstream.write(bytes);
    });
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => {
      if (state !== 'silent') socket.destroy();
    });
    upstream.on('data', (bytes) => {
      if (state === 'silent') return;
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
      state = 'closed';
      for (const socket of sockets) socket.destroy();
    },
    silence: () => {
      state = 'silent';
    },
    open: () => {
      // What was lost meanwhile would be waited for.
      if (state === 'silent') for (const socket of sockets) socket.destroy();
      state = 'open';
    },
  };
}
