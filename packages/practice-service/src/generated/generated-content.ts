import type { AssetDraft } from './asset-draft.ts';
import { nextAddress } from './base58.ts';
import { adjectives, inventedSentence, nouns, oddTexts, traits, traitValues } from './invented-words.ts';
import type { SeededRandom } from './seeded-random.ts';

const oddTextsJson = oddTexts.map((text) => JSON.stringify(text));
const traitValuesJson = traitValues.map((text) => JSON.stringify(text));

/** `,"content":{…}`, or nothing for a plain mint. */
export function contentText(draft: AssetDraft): string {
  const { random, kind } = draft;
  if (kind === 'token' && random.chance(6)) return '';
  const bare = kind === 'token' && random.chance(20);
  const uri = bare || random.chance(8) ? '' : uriTo(draft, 'meta');
  const image = bare || random.chance(12) ? '' : imageUri(draft);
  return (
    `,"content":{"$schema":"https://schema.example.org/nft1.0.json","json_uri":"${uri}","files":[${filesText(draft, image)}],` +
    `"metadata":${bare ? '{}' : metadataText(draft)},"links":{${linksText(draft, image)}}}`
  );
}

function uriTo({ random, collection }: AssetDraft, host: string): string {
  if (collection !== undefined && random.chance(60))
    return `https://${host}.example.org/${collection.symbol}/${random.below(10_000)}`;
  if (random.chance(2)) return `ipfs://${nextAddress(random)}/${random.below(10_000)}.json`;
  return `https://${host}.example.org/${nextAddress(random)}`;
}

/** JSON text inside quotes: a few addresses hold blanks, quotes or a whole picture, as real ones do. */
function imageUri(draft: AssetDraft): string {
  const { random } = draft;
  const kind = random.below(100);
  if (kind === 0) return `https://media.example.com/my picture (${random.below(99)}).png`;
  if (kind === 1) return '\\"https://media.example.com/quoted.png\\"';
  if (kind === 2) return `data:image/svg+xml;utf8,<svg viewBox='0 0 9 9'><path d='M${random.below(9)} 0h9'/></svg>`;
  return `${uriTo(draft, 'media')}?ext=png`;
}

const mimes = [
  'image/png',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/svg+xml',
  'video/mp4',
  'model/gltf-binary',
] as const;

function filesText(draft: AssetDraft, image: string): string {
  const { random } = draft;
  if (image === '') return '';
  const cdn = random.chance(40) ? `"cdn_uri":"https://cdn.example.com/image//${image}",` : '';
  const contexts = random.chance(2) ? ',"contexts":["primary"]' : random.chance(1) ? ',"contexts":null' : '';
  const mime = random.chance(97) ? `"mime":"${random.pick(mimes)}"` : '"mime":""';
  const more = random.chance(10) ? `,{"uri":"${uriTo(draft, 'media')}","mime":"${random.pick(mimes)}"}` : '';
  return `{"uri":"${image}",${cdn}${mime}${contexts}}${more}`;
}

function linksText(draft: AssetDraft, image: string): string {
  const { random, collection } = draft;
  const site = collection?.site ?? (random.chance(20) ? '' : undefined);
  const members = [
    ...(site === undefined ? [] : [`"external_url":"${site}"`]),
    ...(image === '' ? [] : [`"image":"${image}"`]),
    ...(random.chance(3) ? [`"animation_url":"${uriTo(draft, 'media')}"`] : []),
  ];
  return members.join(',');
}

const standards = {
  nft: ['NonFungible', 'ProgrammableNonFungible', 'NonFungibleEdition'],
  token: ['Fungible', 'FungibleAsset'],
  core: [],
};

function metadataText(draft: AssetDraft): string {
  const { random, collection, kind } = draft;
  const standard = kind !== 'core' && random.chance(60) ? `,"token_standard":"${random.pick(standards[kind])}"` : '';
  const symbol = `"${collection?.symbol ?? (random.chance(30) ? '' : random.pick(nouns).slice(0, 5).toUpperCase())}"`;
  return `{${attributesText(draft)}${descriptionText(draft)}"name":${nameText(draft)},"symbol":${random.chance(1) ? random.pick(oddTextsJson) : symbol}${standard}}`;
}

function nameText({ random, collection }: AssetDraft): string {
  if (random.chance(5)) return random.pick(oddTextsJson);
  if (random.chance(1)) return '""';
  if (collection !== undefined) return `"${collection.name} #${random.below(10_000)}"`;
  return `"${random.pick(adjectives)} ${random.pick(nouns)}"`;
}

/** Mostly the collection's; one in a thousand is far longer than the rest of the record. */
function descriptionText({ random, collection }: AssetDraft): string {
  const kind = random.below(1000);
  if (kind === 0) return `"description":${JSON.stringify(inventedSentence(random).repeat(100 + random.below(300)))},`;
  if (kind < 30) return `"description":${random.pick(oddTextsJson)},`;
  if (kind < 35) return '"description":null,';
  if (kind < 250) return '';
  if (collection !== undefined) return `"description":${collection.descriptionText},`;
  return `"description":${random.chance(50) ? '""' : JSON.stringify(inventedSentence(random))},`;
}

/** Absent, an empty list, an object, or a list. */
function attributesText({ random, collection, kind }: AssetDraft): string {
  if (random.chance(1)) return '"attributes":{"tier":2,"class":"ferry","rarity":"common"},';
  if (collection === undefined || kind === 'token') return random.chance(90) ? '' : '"attributes":[],';
  if (collection.traits.length === 0) return random.chance(50) ? '' : '"attributes":[],';
  let list = '';
  for (const trait of collection.traits) {
    list += `${list === '' ? '' : ','}{"value":${attributeValue(random)},"trait_type":"${trait}"}`;
  }
  return `"attributes":[${list}${oddAttribute(random)}],`;
}

function attributeValue(random: SeededRandom): string {
  const kind = random.below(100);
  if (kind < 75) return random.pick(traitValuesJson);
  if (kind < 88) return String(random.below(5000));
  if (kind < 92) return random.pick(['true', 'false']);
  if (kind < 96) return random.pick(['0.1', '-7', '1e-7', '3.50', '12345678901234567890', '-0.0']);
  if (kind < 97) return 'null';
  return random.pick(oddTextsJson);
}

function oddAttribute(random: SeededRandom): string {
  const kind = random.below(40);
  if (kind === 0) return `,{"value":${random.below(100)},"trait_type":"generation","display_type":"number"}`;
  if (kind === 1)
    return `,{"value":${random.below(100)},"max_value":100,"trait_type":"stamina","display_type":"boost_percentage"}`;
  if (kind === 2)
    return `,{"value":${1_600_000_000 + random.below(99_999_999)},"trait_type":"${random.pick(traits)}","display_type":"date"}`;
  if (kind === 3) return ',{"trait_type":"no value"},{"value":"no trait"}';
  return '';
}
