import { isJsonObject, type JsonObject } from '../../../../src/lib/json/json.ts';
import { putLeafHashes } from '../generated/leaf-hashes.ts';
import { nextAddress } from '../generated/base58.ts';
import type { SeededRandom } from '../generated/seeded-random.ts';

/**
 * Changes a record as a day may: a token gets another supply and price, other assets another owner, and sometimes another name.
 * One in fifty is burnt.
 */
export function changeRecord(record: JsonObject, random: SeededRandom): void {
  const { token_info: token, ownership, content } = record;
  if (isToken(record) && isJsonObject(token)) {
    token['supply'] = random.next();
    if (isJsonObject(token['price_info'])) token['price_info']['price_per_token'] = random.below(1_000_000) / 64;
    return;
  }
  if (isJsonObject(ownership)) ownership['owner'] = nextAddress(random);
  const metadata = isJsonObject(content) ? content['metadata'] : undefined;
  const isRenamed = random.chance(20);
  if (isRenamed && record['mutable'] === true && isJsonObject(metadata))
    metadata['name'] = `Renamed ${random.below(1_000_000)}`;
  if (random.chance(2)) record['burnt'] = true;
  putLeafHashes(record);
}

function isToken({ interface: kind }: JsonObject): boolean {
  return typeof kind === 'string' && kind.startsWith('Fungible');
}
