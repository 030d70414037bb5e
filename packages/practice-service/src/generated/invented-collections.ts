import { nextAddress } from './base58.ts';
import { adjectives, inventedSentence, nouns, traits } from './invented-words.ts';
import { randomOf, type SeededRandom } from './seeded-random.ts';

/** What the assets of one collection share. `…Text` members are JSON text. */
export interface InventedCollection {
  readonly address: string;
  readonly name: string;
  readonly symbol: string;
  readonly site: string;
  readonly descriptionText: string;
  readonly authority: string;
  readonly creatorsText: string;
  readonly metadataText: string;
  readonly tree: string;
  readonly basisPoints: number;
  readonly traits: readonly string[];
  /** Null where the service does not say whether the collection is verified. */
  readonly verified: boolean | null;
}

const addressCache = new Map<string, string>();

/** The address of an invented role (`owner 7`), the same on every call. */
export function inventedAddress(role: string): string {
  const known = addressCache.get(role);
  if (known !== undefined) return known;
  const address = nextAddress(randomOf(`address of ${role}`));
  addressCache.set(role, address);
  return address;
}

const ownerRoles = Array.from({ length: 1024 }, (_, index) => `owner ${index}`);

/** One of 1,024 owners; a few of them hold much. */
export function pickOwner(random: SeededRandom): string {
  const range = random.chance(20) ? 8 : ownerRoles.length;
  return inventedAddress(ownerRoles[random.below(range)] ?? 'owner 0');
}

const royaltySteps = [0, 5, 100, 250, 300, 420, 500, 550, 690, 700, 750, 1000, 2000, 10_000] as const;

function inventCollection(index: number): InventedCollection {
  const random = randomOf(`collection ${index}`);
  const name = `${random.pick(adjectives)} ${random.pick(nouns)}`;
  const site = random.chance(30) ? '' : `https://www.example.org/${name.toLowerCase().replace(' ', '-')}`;
  const description = Array.from({ length: random.below(4) }, () => inventedSentence(random)).join(' ');
  const authority = inventedAddress(`authority ${index}`);
  const metadata = {
    name,
    symbol: name.slice(0, 4).toUpperCase(),
    image: `https://media.example.org/${inventedAddress(`cover ${index}`)}`,
    description,
    external_url: site,
  };
  return {
    address: inventedAddress(`collection ${index}`),
    name,
    symbol: random.chance(10) ? '' : metadata.symbol,
    site,
    descriptionText: JSON.stringify(description),
    authority,
    creatorsText: creatorsText(random, index, authority),
    metadataText: random.chance(15) ? '{}' : JSON.stringify(metadata),
    tree: inventedAddress(`tree ${index}`),
    basisPoints: random.pick(royaltySteps),
    traits: traits.slice(0, random.below(1 + random.below(traits.length + 1))),
    verified: random.chance(30) ? null : random.chance(90),
  };
}

/** Up to five creators whose shares make 100, the authority last. */
function creatorsText(random: SeededRandom, collection: number, authority: string): string {
  const creators: { address: string; share: number; verified: boolean }[] = [];
  let left = 100;
  for (let index = random.below(1 + random.below(5)); index > 0; index -= 1) {
    const share = random.chance(20) ? 0 : random.below(left + 1);
    left -= share;
    creators.push({
      address: inventedAddress(`creator ${index} of ${collection}`),
      share,
      verified: random.chance(40),
    });
  }
  creators.push({ address: authority, share: left, verified: true });
  return JSON.stringify(creators);
}

export const collections: readonly InventedCollection[] = Array.from({ length: 64 }, (_, index) =>
  inventCollection(index),
);
