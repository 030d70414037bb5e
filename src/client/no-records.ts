import type { AssetAnswer } from './asset-client.ts';

/** An answer of which only its success matters. */
export const noRecords: AssetAnswer = {
  kind: 'records',
  body: new Uint8Array(),
  idless: 0,
  otherResponseId: false,
};
