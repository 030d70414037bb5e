import { hashRoom } from '../src/lib/kernel/slots';

const blockBytes: i32 = 136;
/** Whole blocks. */
const input: usize = memory.data(hashRoom, 16);
const state: usize = memory.data(200, 16);
const sums: usize = memory.data(40, 16);

/** What each round adds to the first word (FIPS 202, 3.2.5). */
const rounds: usize = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
  0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
  0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
  0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]);
/** Where each moved word goes, as a byte offset, and by how many bits it is turned: from word 1 on. */
const targets: usize = memory.data<u8>([
  80, 56, 88, 136, 144, 24, 40, 128, 64, 168, 192, 32, 120, 184, 152, 104, 96, 16, 160, 112, 176, 72, 48, 8,
]);
const turns: usize = memory.data<u8>([
  1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
]);

/** Where TypeScript puts what `keccak` hashes, and finds the 32 bytes of the hash. */
export function hashAt(): usize {
  return input;
}

/** Hashes so many bytes, fewer than there is room for, by Keccak-256: its padding is not SHA-3's. */
export function keccak(length: i32): void {
  if (length < 0 || length >= hashRoom) unreachable();
  const end = (length / blockBytes + 1) * blockBytes;
  memory.fill(input + <usize>length, 0, <usize>(end - length));
  store<u8>(input + <usize>length, 1);
  const last = input + <usize>end - 1;
  store<u8>(last, load<u8>(last) | 0x80);
  memory.fill(state, 0, 200);
  for (let block: usize = 0; block < <usize>end; block += <usize>blockBytes) {
    for (let at: usize = 0; at < <usize>blockBytes; at += 8) {
      store<u64>(state + at, load<u64>(state + at) ^ load<u64>(input + block + at));
    }
    permute();
  }
  memory.copy(input, state, 32);
}

function permute(): void {
  for (let round: usize = 0; round < 192; round += 8) {
    for (let x: usize = 0; x < 40; x += 8) {
      const column = state + x;
      store<u64>(
        sums + x,
        load<u64>(column) ^
          load<u64>(column, 40) ^
          load<u64>(column, 80) ^
          load<u64>(column, 120) ^
          load<u64>(column, 160),
      );
    }
    for (let x: usize = 0; x < 40; x += 8) {
      const mixed = load<u64>(sums + ((x + 32) % 40)) ^ rotl<u64>(load<u64>(sums + ((x + 8) % 40)), 1);
      for (let at = state + x; at < state + 200; at += 40) store<u64>(at, load<u64>(at) ^ mixed);
    }
    let moved = load<u64>(state, 8);
    for (let step: usize = 0; step < 24; step += 1) {
      const target = state + <usize>load<u8>(targets + step);
      const word = load<u64>(target);
      store<u64>(target, rotl<u64>(moved, <u64>load<u8>(turns + step)));
      moved = word;
    }
    for (let row = state; row < state + 200; row += 40) {
      const a = load<u64>(row);
      const b = load<u64>(row, 8);
      const c = load<u64>(row, 16);
      const d = load<u64>(row, 24);
      const e = load<u64>(row, 32);
      store<u64>(row, a ^ (~b & c));
      store<u64>(row, b ^ (~c & d), 8);
      store<u64>(row, c ^ (~d & e), 16);
      store<u64>(row, d ^ (~e & a), 24);
      store<u64>(row, e ^ (~a & b), 32);
    }
    store<u64>(state, load<u64>(state) ^ load<u64>(rounds + round));
  }
}
