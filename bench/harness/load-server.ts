import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { nodeArguments } from './measured-child.ts';

/** The load server in a process of its own. */
export interface LoadServer {
  readonly url: string;
  calls(): Promise<number>;
  stop(): Promise<void>;
}

export interface LoadServerOptions {
  readonly latencyMs: number;
  /** How many different answers of 1,000 records are prepared. */
  readonly bodies: number;
  /** A file of records, one a line; empty for generated ones. */
  readonly records: string;
  /** Of `answer-server.ts`, when it is to be a service in need of care. */
  readonly limits?: readonly string[];
}

/** Starts it. It ends with this process at the latest. */
export async function startLoadServer({
  latencyMs,
  bodies,
  records,
  limits = [],
}: LoadServerOptions): Promise<LoadServer> {
  const args = ['--latency-ms', String(latencyMs), '--bodies', String(bodies), '--records', records, ...limits];
  const child = spawn(process.execPath, nodeArguments({ program: 'answer-server.ts', args }), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const listening = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [url] = await Promise.race([
    listening,
    ended.then(([code]) => {
      throw new Error(`the load server ended with ${String(code)} before it listened`);
    }),
  ]);
  return {
    url,
    calls: async () => Number(await (await fetch(`${url}/calls`)).text()),
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
