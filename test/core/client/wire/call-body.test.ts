import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callBody, callKey, requestId } from '../../../../src/core/client/wire/call-body.ts';
import { batchCall, idOf, idsOf, noFlags, singleCall } from '../support/calls.ts';

const all = { showFungible: true, showCollectionMetadata: true, showUnverifiedCollections: true };

function sent(call: Parameters<typeof callBody>[0]): unknown {
  return JSON.parse(Buffer.from(callBody(call)).toString());
}

describe('callBody', () => {
  it('sends positional params and no config when no flag is on', () => {
    const [batch, single] = [batchCall(['a', 'b']), singleCall('a')];
    const head = { jsonrpc: '2.0' };
    expect(sent(batch)).toEqual({ ...head, id: requestId(batch), method: 'getAssets', params: [['a', 'b']] });
    expect(sent(single)).toEqual({ ...head, id: requestId(single), method: 'getAsset', params: ['a'] });
  });

  it('is what JSON.stringify writes; answers are kept under the hash of the same with the id 1', () => {
    for (const call of [batchCall([]), batchCall(idsOf(1000)), singleCall(idOf(1))]) {
      const ids = [...call.ids];
      for (const [flags, config] of [
        [noFlags, []],
        [{ ...noFlags, showFungible: true }, [{ showFungible: true }]],
      ] as const) {
        const params = [call.method === 'getAssets' ? ids : ids[0], ...config];
        const asked = { ...call, flags };
        const text = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: call.method, params });
        expect(Buffer.from(callBody(asked)).toString()).toBe(text(requestId(asked)));
        expect(callKey(asked)).toBe(createHash('sha256').update(text(1)).digest('hex'));
      }
    }
  });

  it('has an id of its own for each call, which a retry has too', () => {
    const calls = Array.from({ length: 1000 }, (_, n) => batchCall(idsOf(2, 2 * n)));
    const ids = calls.map(requestId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 31)).toBe(true);
    expect(requestId(batchCall(idsOf(2)))).toBe(ids[0]);
  });

  it('sends the flags that are on and that the method has', () => {
    expect(sent({ ...singleCall('a'), flags: all })).toMatchObject({ params: ['a', all] });
    expect(sent({ ...batchCall(['a']), flags: all })).toMatchObject({
      params: [['a'], { showFungible: true, showCollectionMetadata: true }],
    });
    expect(sent({ ...batchCall(['a']), flags: { ...noFlags, showUnverifiedCollections: true } })).toMatchObject({
      params: [['a']],
    });
  });
});
