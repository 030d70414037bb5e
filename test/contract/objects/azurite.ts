import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

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
