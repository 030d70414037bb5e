import { z } from 'zod';
import type { CounterLayout } from '../../../lib/disk/counter-file.ts';
import { ownerSchema } from '../../../lib/process/lock-owner.ts';

const credits = z.number().int().nonnegative();

const stateSchema = z.object({
  version: z.literal(1),
  /** One more with each change. */
  sequence: z.number().int(),
  /** What is booked on the day. */
  credits,
  /** How much of it each process has in flight. */
  inFlight: z.array(z.object({ credits, owner: ownerSchema })),
  /** Of an account: the ledgers of keys whose bookings of the day are in `credits`; `allKeys` once the day was set. */
  taken: z.array(z.string()).optional(),
});

/** What a day's file says. */
export type LedgerState = z.infer<typeof stateSchema>;

export const emptyState: LedgerState = { version: 1, sequence: 0, credits: 0, inFlight: [] };

/** More than 130 processes fit. */
export const ledgerLayout: CounterLayout<LedgerState> = { schema: stateSchema, copyBytes: 32_768 };
