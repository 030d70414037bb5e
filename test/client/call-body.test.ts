import { describe, expect, it } from 'vitest';
import { callBody } from '../../src/client/call-body.ts';
import { batchCall, idOf, idsOf, noFlags, singleCall } from './support/calls.ts';

const all = { showFungible: true, showCollectionMetadata: true, showUnverifiedCollections: true };

function sent(call: Parameters<typeof callBody>[0]): unknown {
  return JSON.parse(Buffer.from(callBody(call)).toString());
}

describe('callBody', () => {
  it('sends positional params and no config when no flag is on', () => {
    expect(sent(batchCall(['a', 'b']))).toEqual({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [['a', 'b']] });
    expect(sent(singleCall('a'))).toEqual({ jsonrpc: '2.0', id: 1, method: 'getAsset', params: ['a'] });
  });

  it('is what JSON.stringify writes: answers are kept under the hash of these bytes', () => {
    for (const call of [batchCall([]), batchCall(idsOf(1000)), singleCall(idOf(1))]) {
      const ids = [...call.ids];
      for (const [flags, config] of [
        [noFlags, []],
        [{ ...noFlags, showFungible: true }, [{ showFungible: true }]],
      ] as const) {
        const params = [call.method === 'getAssets' ? ids : ids[0], ...config];
        expect(Buffer.from(callBody({ ...call, flags })).toString()).toBe(
          JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params }),
        );
      }
    }
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
