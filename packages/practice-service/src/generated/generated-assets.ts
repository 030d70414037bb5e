import { type AssetDraft, draftOf } from './asset-draft.ts';
import { nextAddress } from './base58.ts';
import { contentText } from './generated-content.ts';
import { coreText } from './generated-core.ts';
import { mintExtensionsText, tokenInfoText } from './generated-token.ts';
import { type LeafHashes, leafHashesOf } from './leaf-hashes.ts';
import type { JsonObject } from '../../../../src/lib/json/json.ts';
import { inventedAddress, pickOwner } from './invented-collections.ts';
import { randomOf, SeededRandom } from './seeded-random.ts';

/** The n-th id of a seed (both integers from 0): base58 of 32 bytes. Different pairs give different ids. */
export function generatedId(seed: number, n: number): string {
  return nextAddress(new SeededRandom([seed | 0, Math.floor(n / 0x1_0000_0000), n | 0, 0x6a09e667]));
}

/** True for the share of ids that a generated service does not know; it depends on the id alone. */
export function isMissing(id: string, missingPercent: number): boolean {
  return missingPercent > 0 && randomOf(`missing ${id}`).chance(missingPercent);
}

/** The JSON text of the record with this id: about 1.7 KB, the same on every machine and at any time. */
export function generatedRecord(id: string): string {
  const draft = draftOf(id);
  const { random, kind } = draft;
  const text =
    `{"interface":"${draft.interface}","id":"${id}"${contentText(draft)}${authoritiesText(draft)}` +
    `,"compression":${compressionText(draft)}${groupingText(draft)},"royalty":${royaltyText(draft)}` +
    `${creatorsText(draft)},"ownership":${ownershipText(draft)}${usesText(draft)}${supplyText(draft)}` +
    `,"mutable":${random.chance(80)},"burnt":${random.chance(draft.compressed ? 4 : 0.5)}` +
    (kind === 'token' && random.chance(30) ? `,"mint_extensions":${mintExtensionsText(draft)}` : '') +
    (kind === 'token' || (!draft.compressed && random.chance(35)) ? `,"token_info":${tokenInfoText(draft)}` : '') +
    (kind === 'core' ? coreText(draft) : '') +
    `${inscriptionText(draft)}${unknownText(draft)}}`;
  return draft.compressed ? withHashes(text) : text;
}

/** With the hashes of what the record says in place of invented ones. */
function withHashes(text: string): string {
  const hashes = leafHashesOf(JSON.parse(text) as JsonObject);
  return text.replaceAll(/"(data_hash|creator_hash|asset_hash)":"\w+"/g, (old, name: keyof LeafHashes) =>
    hashes === undefined ? old : `"${name}":"${hashes[name]}"`,
  );
}

function authoritiesText({ random, collection, kind }: AssetDraft): string {
  if (kind === 'token' && random.chance(40)) return random.chance(20) ? '' : ',"authorities":[]';
  const address = random.chance(2) ? '' : (collection?.authority ?? pickOwner(random));
  const second = random.chance(2) ? `,{"address":"${pickOwner(random)}","scopes":["metadata","royalty"]}` : '';
  return `,"authorities":[{"address":"${address}","scopes":["${random.chance(95) ? 'full' : 'metadata'}"]}${second}]`;
}

function compressionText({ random, collection, compressed }: AssetDraft): string {
  if (!compressed) {
    return '{"eligible":false,"compressed":false,"data_hash":"","creator_hash":"","asset_hash":"","tree":"","seq":0,"leaf_id":0}';
  }
  const leaf = random.below(1 << random.below(24));
  const later = random.chance(50)
    ? `"collection_hash":"${inventedAddress('collection hash')}","asset_data_hash":"${inventedAddress('data hash')}","flags":${random.below(5)},`
    : '';
  return (
    `{"eligible":false,"compressed":true,"data_hash":"${nextAddress(random)}","creator_hash":"${inventedAddress('creator hash')}",${later}` +
    `"asset_hash":"${nextAddress(random)}","tree":"${collection?.tree ?? inventedAddress('tree')}","seq":${leaf + random.below(9)},"leaf_id":${leaf}}`
  );
}

function groupingText({ random, collection }: AssetDraft): string {
  if (collection === undefined) return random.chance(95) ? ',"grouping":[]' : '';
  const value = random.chance(1) ? 'null' : `"${collection.address}"`;
  const verified = collection.verified === null ? '' : `,"verified":${collection.verified}`;
  const metadata = random.chance(20) ? `,"collection_metadata":${collection.metadataText}` : '';
  const creator = random.chance(2) ? `,{"group_key":"creator","group_value":"${collection.authority}"}` : '';
  return `,"grouping":[{"group_key":"collection","group_value":${value}${verified}${metadata}}${creator}]`;
}

function royaltyText({ random, collection, kind }: AssetDraft): string {
  const points = kind === 'token' ? 0 : (collection?.basisPoints ?? random.below(1001));
  const zero = random.chance(50) ? '0.0' : '0';
  // Servers compute the share in floating point: 300 x 0.0001 is not 0.03.
  const percent = points === 0 ? zero : String(random.chance(50) ? points / 10_000 : points * 0.0001);
  const model = random.chance(97) ? 'creators' : random.pick(['fanout', 'single']);
  const target = model === 'creators' ? 'null' : `"${pickOwner(random)}"`;
  return `{"royalty_model":"${model}","target":${target},"percent":${percent},"basis_points":${points},"primary_sale_happened":${random.chance(60)},"locked":${random.chance(1)}}`;
}

function creatorsText({ random, collection, kind }: AssetDraft): string {
  if (kind !== 'nft' || collection === undefined) return random.chance(97) ? ',"creators":[]' : '';
  const raw = random.chance(2) ? `,"creators_raw":${collection.creatorsText}` : '';
  return `,"creators":${collection.creatorsText}${raw}`;
}

function ownershipText({ random, kind, compressed }: AssetDraft): string {
  const delegate = random.chance(10) ? `"${pickOwner(random)}"` : 'null';
  const none = random.chance(3) ? (random.chance(50) ? '' : ',"owner":""') : undefined;
  // A leaf has an owner.
  const owner = none === undefined || compressed ? `,"owner":"${pickOwner(random)}"` : none;
  const locked = random.chance(5) ? `,"non_transferable":${random.chance(50)}` : '';
  const model = kind === 'token' ? 'token' : 'single';
  return `{"frozen":${random.chance(4)},"delegated":${delegate !== 'null'},"delegate":${delegate},"ownership_model":"${model}"${owner}${locked}}`;
}

function usesText({ random }: AssetDraft): string {
  if (!random.chance(2)) return random.chance(5) ? ',"uses":null' : '';
  const total = 1 + random.below(100);
  return `,"uses":{"use_method":"${random.pick(['burn', 'multiple', 'single', 'Multiple'])}","remaining":${random.below(total)},"total":${total}}`;
}

function supplyText({ random, kind, interface: name }: AssetDraft): string {
  if (kind !== 'nft') return random.chance(70) ? ',"supply":null' : '';
  const nonce = random.chance(30) ? 'null' : String(255 - random.below(7));
  if (name === 'V1_PRINT') {
    return `,"supply":{"print_max_supply":null,"print_current_supply":0,"edition_nonce":${nonce},"edition_number":${1 + random.below(500)},"master_edition_mint":"${inventedAddress('master edition')}"}`;
  }
  const max = random.chance(5) ? 'null' : random.chance(90) ? '0' : String(random.below(1000));
  return `,"supply":{"print_max_supply":${max},"print_current_supply":${random.chance(90) ? 0 : random.below(500)},"edition_nonce":${nonce}}`;
}

function inscriptionText({ random, kind, id }: AssetDraft): string {
  if (kind === 'core' || random.chance(75)) return '';
  if (!random.chance(3)) return ',"inscription":null,"spl20":null';
  return (
    `,"inscription":{"authority":"11111111111111111111111111111111","root":"${inventedAddress('inscription root')}",` +
    `"content":"image/net/${id.slice(0, 20).toLowerCase()}","encoding":"base64","order":${random.below(100_000)},` +
    `"inscription_data":"${inventedAddress('inscription data')}","size":${random.below(5000)},"validation_hash":${random.chance(50) ? 'null' : '"00ff"'}},"spl20":{"p":"spl-20","op":"mint","tick":"teap","amt":"1000"}`
  );
}

/** Members that the specification does not name, as they are seen at the top of real records. */
function unknownText({ random, kind }: AssetDraft): string {
  const rent = random.chance(50) ? '18446744073709551615' : '18446744073709552000';
  const account = random.chance(5) || (kind === 'core' && random.chance(50));
  return (
    (account ? `,"lamports":${random.below(20_000_000)},"executable":false,"rent_epoch":${rent}` : '') +
    (random.chance(3) ? `,"metadata_owner":"${inventedAddress('metadata program')}"` : '') +
    (random.chance(5) ? `,"last_indexed_slot":${250_000_000 + random.below(90_000_000)}` : '') +
    (random.chance(1) ? ',"later":{"a":[1,2.50,{"b":null}],"c":1e400,"d":-0,"":"empty key"}' : '')
  );
}
