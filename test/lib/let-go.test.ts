import { expect, it } from 'vitest';
import { letGo } from '../../src/lib/let-go.ts';

it('takes the memory from whoever still holds it', () => {
  const bytes = new Uint8Array(1000);
  letGo(bytes.buffer);
  expect(bytes.byteLength).toBe(0);
});
