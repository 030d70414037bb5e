import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Operation, ServedStore } from './faulty-server.ts';
import { forward } from './forward.ts';

export interface Azurite {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

const program = fileURLToPath(new URL('../../../node_modules/azurite/dist/src/blob/main.js', import.meta.url));
const flags = ['--blobPort', '0', '--inMemoryPersistence', '--skipApiVersionCheck', '--disableTelemetry', '--silent'];

/** Starts Azurite, the local Azure Blob Storage, with one account. @param key in base64 */
export async function startAzurite(account: string, key: string): Promise<Azurite> {
  const env = { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` };
  const azurite = spawn(process.execPath, [program, ...flags], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async (): Promise<void> => {
    if (azurite.exitCode !== null) return;
    azurite.kill();
    await once(azurite, 'exit');
  };
  try {
    return { port: await portOf(azurite), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function portOf(azurite: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = '';
    azurite.stdout?.on('data', (text: Buffer) => {
      printed += String(text);
      const [, port] = /successfully listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(printed) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
    azurite.on('exit', () => {
      reject(new Error(`Azurite did not start: ${printed}`));
    });
  });
}

/** Azurite behind a server that injects faults. */
export function servedAzurite({ port }: Azurite): ServedStore {
  return {
    operationOf,
    refusal: ({ status, code }) => ({
      status,
      headers: { 'content-type': 'application/xml', 'x-ms-error-code': code },
      body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>on purpose</Message></Error>`,
    }),
    answer: (request, body) => forward(port, request, body),
  };
}

function operationOf({ url = '/', method = '' }: IncomingMessage): Operation {
  if (new URL(url, 'http://host').searchParams.get('comp') === 'list') return 'LIST';
  const operations: Record<string, Operation> = { PUT: 'PUT', HEAD: 'LOOK', DELETE: 'DELETE' };
  return operations[method] ?? 'GET';
}

/** What the client needs to reach the account. */
export function azureConnection(endpoint: string, account: string, key: string): string {
  return `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=${endpoint}/${account};`;
}
