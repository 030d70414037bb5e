import type { Clock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/export-error.ts';
import type { Database } from './database.ts';
import { lockNotGranted } from './load-errors.ts';
import { beginOf, standardLockTimeoutMs } from './opening.ts';

/**
 * A change of a table or view waits for all transactions that have read it, and later readers wait behind it: it is tried for a short
 * time, again and again. In milliseconds.
 */
const [tryMs, pauseMs] = [300, 1000] as const;

/** How long a load waits for a lock, in milliseconds. */
export async function lockLimitMs(database: Database): Promise<number> {
  if (database.kind === 'duckdb') return 0;
  const [[ms] = []] = await database.rows(`SELECT setting FROM pg_settings WHERE name = 'lock_timeout'`);
  return Number(ms) === 0 ? standardLockTimeoutMs : Number(ms);
}

/** Changes what people read, in a transaction of its own. @throws the last error of the driver */
export async function changePatiently(database: Database, clock: Clock, change: () => Promise<void>): Promise<void> {
  const limitMs = await lockLimitMs(database);
  const sinceMs = clock.monotonic();
  for (;;) {
    await database.run(beginOf[database.kind]);
    try {
      if (database.kind === 'postgres') await database.run(`SET LOCAL lock_timeout = ${tryMs}`);
      await change();
      await database.run('COMMIT');
      return;
    } catch (error) {
      await database.run('ROLLBACK').catch(() => undefined);
      if (codeOf(error) !== lockNotGranted || clock.monotonic() - sinceMs + pauseMs > limitMs) throw error;
      await clock.sleep(pauseMs);
    }
  }
}
