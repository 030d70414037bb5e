import { collections, type InventedCollection } from './invented-collections.ts';
import { randomOf, type SeededRandom } from './seeded-random.ts';

/** What the members of one record are made from. */
export interface AssetDraft {
  readonly id: string;
  readonly random: SeededRandom;
  readonly kind: 'nft' | 'token' | 'core';
  readonly interface: string;
  readonly collection: InventedCollection | undefined;
  readonly compressed: boolean;
}

/** Interfaces with how many of 200 records have each; `V3_NFT` stands for what nobody has heard of yet. */
const interfaces: readonly (readonly [name: string, kind: AssetDraft['kind'], share: number])[] = [
  ['V1_NFT', 'nft', 60],
  ['ProgrammableNFT', 'nft', 28],
  ['Custom', 'nft', 14],
  ['LEGACY_NFT', 'nft', 6],
  ['V1_PRINT', 'nft', 4],
  ['V2_NFT', 'nft', 2],
  ['Identity', 'nft', 1],
  ['Executable', 'nft', 1],
  ['V3_NFT', 'nft', 2],
  ['FungibleToken', 'token', 36],
  ['FungibleAsset', 'token', 16],
  ['MplCoreAsset', 'core', 22],
  ['MplCoreCollection', 'core', 6],
  ['MplCoreGroup', 'core', 2],
];
const interfaceOf200 = interfaces.flatMap((entry) => Array.from({ length: entry[2] }, () => entry));

/** Everything follows from the id. */
export function draftOf(id: string): AssetDraft {
  const random = randomOf(id);
  const [name, kind] = random.pick(interfaceOf200);
  const belongs = random.chance(kind === 'token' ? 4 : 75) && name !== 'MplCoreCollection';
  const compressed = name === 'V1_NFT' && random.chance(50);
  return { id, random, kind, interface: name, collection: belongs ? random.pick(collections) : undefined, compressed };
}
