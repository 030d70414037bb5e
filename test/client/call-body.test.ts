import { describe, expect, it } from 'vitest';
import { callBody } from '../../src/client/call-body.ts';
import { batchCall, noFlags, singleCall } from './support/calls.ts';

const all = { showFungible: true, showCollectionMetadata: true, showUnverifiedCollections: true };

function sent(call: Parameters<typeof callBody>[0]): unknown {
  return JSON.parse(Buffer.from(callBody(call)).toString());
}

describe('callBody', () => {
  it('sends positional params and no config when no flag is on', () => {
    expect(sent(batchCall(['a', 'b']))).toEqual({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [['a', 'b']] });
    expect(sent(singleCall('a'))).toEqual({ jsonrpc: '2.0', id: 1, method: 'getAsset', params: ['a'] });
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
