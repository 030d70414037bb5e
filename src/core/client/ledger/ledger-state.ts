import { z } from 'zod';
import { ownerSchema } from '../../../lib/process/lock-owner.ts';
import { sha256 } from '../../../lib/hash/sha256.ts';

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

/** Bytes of one copy; a file is two copies. More than 130 processes fit. */
export const copyBytes = 32_768;

/** A copy: the SHA-256 of the text in hexadecimal digits, a blank, the text, a line feed. What follows has no meaning. */
export function copyOf(state: LedgerState): Buffer {
  const text = JSON.stringify(state);
  const copy = Buffer.from(`${sha256(text)} ${text}\n`);
  if (copy.length > copyBytes) throw new Error(`${state.inFlight.length} entries are too long for the ledger`);
  return copy;
}

/**
 * The state of a whole file; undefined when it is damaged. The first copy is written first, and nothing that it books is
 * sent before both are on the disk: so whichever copy is whole, it has all that can have been charged.
 */
export function stateOf(file: Buffer): LedgerState | undefined {
  if (file.length !== 2 * copyBytes) return undefined;
  const [first, second] = [stateIn(file.subarray(0, copyBytes)), stateIn(file.subarray(copyBytes))];
  if (first === undefined || second === undefined) return first ?? second;
  // With equal numbers a process that had lost its lock wrote the first.
  return first.sequence > second.sequence ? first : second;
}

function stateIn(copy: Buffer): LedgerState | undefined {
  const line = copy.subarray(0, Math.max(0, copy.indexOf('\n'))).toString('latin1');
  const text = Buffer.from(line.slice(65), 'latin1');
  if (line.slice(0, 65) !== `${sha256(text)} `) return undefined;
  return stateSchema.safeParse(JSON.parse(text.toString())).data;
}
