import { describe, expect, it } from 'vitest';
import { BufferPool } from '../../src/lib/buffer-pool.ts';

const mebibyte = 1024 * 1024;

describe('a pool of buffers', () => {
  it('gives memory that was given back again, at any length that fits', () => {
    const pool = new BufferPool(8 * mebibyte);
    const first = pool.take(mebibyte);
    pool.give(first);
    const second = pool.take(mebibyte - 5);
    expect(second.buffer).toBe(first.buffer);
    expect(second).toHaveLength(mebibyte - 5);
    expect(pool.take(10).buffer).not.toBe(first.buffer);
  });

  it('never lends the same memory twice at once, though it is given back twice', () => {
    const pool = new BufferPool(8 * mebibyte);
    const first = pool.take(100);
    pool.give(first);
    pool.give(first);
    expect(pool.take(100).buffer).not.toBe(pool.take(100).buffer);
  });

  it('takes nothing that it did not give', () => {
    const pool = new BufferPool(8 * mebibyte);
    const foreign = Buffer.alloc(mebibyte);
    pool.give(foreign);
    expect(pool.take(100).buffer).not.toBe(foreign.buffer);
  });

  it('keeps no more than it may', () => {
    const pool = new BufferPool(mebibyte);
    const [one, other] = [pool.take(mebibyte), pool.take(mebibyte)];
    pool.give(one);
    pool.give(other);
    expect(pool.take(mebibyte).buffer).toBe(one.buffer);
    expect(pool.take(mebibyte).buffer).not.toBe(other.buffer);
  });
});
