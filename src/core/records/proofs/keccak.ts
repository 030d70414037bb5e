import { keccak_256 } from '@noble/hashes/sha3.js';
import { theKernel } from '../../../lib/kernel/kernel.ts';
import { hashRoom } from '../../../lib/kernel/slots.ts';

/** The Keccak-256 of bytes: where there is a kernel and they fit, by it, in a sixth of the time. */
export function keccak(bytes: Uint8Array): Uint8Array {
  const kernel = bytes.length < hashRoom ? theKernel() : undefined;
  if (kernel === undefined) return keccak_256(bytes);
  const at = kernel.run.hashAt();
  kernel.bytes.set(bytes, at);
  kernel.run.keccak(bytes.length);
  return kernel.bytes.slice(at, at + 32);
}
