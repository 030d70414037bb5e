import { type AttemptDetail, AttemptError } from '../../client/asset-client.ts';
import type { ExitName } from '../../../lib/exit-codes.ts';
import { type ErrorDetail, ExportError, messageOf } from '../../../lib/export-error.ts';
import { NobodyWaits } from '../fetch-batches.ts';

/** An error as plain data: threads copy the message of an error, but neither its class nor its fields. */
export type PackedError =
  | PackedExport
  | PackedAttempt
  | { readonly kind: 'nobodyWaits' }
  | { readonly kind: 'bug'; readonly name: string; readonly message: string; readonly stack: string | undefined };

interface PackedExport extends Omit<ErrorDetail, 'cause'> {
  readonly kind: 'export';
  readonly exit: ExitName;
  readonly message: string;
  readonly cause: PackedError | undefined;
}

/** Every detail of the error: the type checker asks for one that is added. */
interface PackedAttempt
  extends Pick<AttemptError, Exclude<keyof AttemptDetail, 'cause' | 'atFirst'> | 'failure' | 'message'> {
  readonly kind: 'attempt';
  readonly atFirst: PackedError | undefined;
  readonly cause: PackedError | undefined;
}

export function packError(error: unknown): PackedError {
  if (error instanceof ExportError) {
    const { exit, message, todo, facts, why, again, unsent } = error;
    return { kind: 'export', exit, message, todo, facts, why, again, unsent, cause: packedCause(error) };
  }
  if (error instanceof AttemptError) {
    const { failure, message, why, status, waitMs, unsent, lost, ofPeriod, foreign, shows } = error;
    const atFirst = error.atFirst === undefined ? undefined : packError(error.atFirst);
    const details = { why, status, waitMs, unsent, lost, ofPeriod, foreign, shows, atFirst };
    return { kind: 'attempt', failure, message, ...details, cause: packedCause(error) };
  }
  if (error instanceof NobodyWaits) return { kind: 'nobodyWaits' };
  if (error instanceof Error) return { kind: 'bug', name: error.name, message: error.message, stack: error.stack };
  return { kind: 'bug', name: 'Error', message: messageOf(error), stack: undefined };
}

export function unpackError(packed: PackedError): Error {
  switch (packed.kind) {
    case 'export':
      return new ExportError(packed.exit, packed.message, { ...packed, ...causeOf(packed) });
    case 'attempt':
      return new AttemptError(packed.failure, packed.message, {
        ...packed,
        atFirst: atFirstOf(packed),
        ...causeOf(packed),
      });
    case 'nobodyWaits':
      return new NobodyWaits();
    case 'bug': {
      const error = new Error(packed.message);
      error.name = packed.name;
      // Where it happened is in the other thread's stack, not in this one's.
      if (packed.stack !== undefined) error.stack = packed.stack;
      return error;
    }
  }
}

function packedCause({ cause }: Error): PackedError | undefined {
  return cause === undefined ? undefined : packError(cause);
}

function causeOf({ cause }: PackedExport | PackedAttempt): { cause?: Error } {
  return cause === undefined ? {} : { cause: unpackError(cause) };
}

function atFirstOf({ atFirst }: PackedAttempt): ExportError | undefined {
  const error = atFirst === undefined ? undefined : unpackError(atFirst);
  return error instanceof ExportError ? error : undefined;
}
