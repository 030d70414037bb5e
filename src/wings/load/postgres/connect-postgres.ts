import type { Client } from 'pg';
import type { Clock } from '../../../lib/clock.ts';
import { messageOf } from '../../../lib/export-error.ts';
import { firstContactMs } from '../../../lib/first-contact.ts';
import { duration } from '../../../lib/format-text.ts';
import { isSilent, isUnreachable } from '../load-errors.ts';

/** While the server works, nothing else is sent: a proxy or firewall would drop the idle connection without notice. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 60_000 };

/** How long a server is tried that answers that it takes no connection now, and the waits between tries, in milliseconds. */
const [busyMs, firstWaitMs, longestWaitMs] = [60_000, 500, 5000] as const;

/** How long one try may take, in milliseconds. */
const connectLimitMs = 20_000;

export interface ConnectContext {
  readonly clock: Clock;
  readonly note: (text: string) => void;
}

/** Connects, and tries again while the server cannot be reached, up to a minute. @throws the last error of the driver */
export async function connectPatiently(
  ClientOf: typeof Client,
  address: string,
  { clock, note }: ConnectContext,
): Promise<Client> {
  const sinceMs = clock.monotonic();
  for (let waitMs: number = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const client = new ClientOf({ connectionString: address, connectionTimeoutMillis: connectLimitMs, ...keepAlive });
    // The waiting query reports a broken connection.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      const patienceMs = isSilent(error) ? firstContactMs : busyMs;
      if (!isUnreachable(error) || clock.monotonic() - sinceMs + waitMs > patienceMs) throw error;
      if (waitMs === firstWaitMs)
        note(`the database does not answer (${messageOf(error)}): trying for up to ${duration(patienceMs)}`);
      await clock.sleep(waitMs);
    }
  }
}
