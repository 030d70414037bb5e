import type { AssetDraft } from './asset-draft.ts';
import { nextAddress } from './base58.ts';
import { inventedAddress, pickOwner } from './invented-collections.ts';
import type { SeededRandom } from './seeded-random.ts';

const edges = [
  '0',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551615',
] as const;

/** A u64 as digits: small, above 2^53, above 2^63, or at an edge. */
export function u64Text(random: SeededRandom): string {
  const kind = random.below(100);
  if (kind < 15) return '1';
  if (kind < 35) return String(random.below(1_000_000_000));
  if (kind < 65) return `${1 + random.below(9)}${digits(random, 6 + random.below(9))}`;
  if (kind < 88) return `${1 + random.below(8)}${digits(random, 17 + random.below(2))}`;
  if (kind < 94) return `1${random.below(8)}${digits(random, 18)}`;
  return random.pick(edges);
}

function digits(random: SeededRandom, count: number): string {
  let text = '';
  while (text.length < count) text += String(random.below(1_000_000)).padStart(6, '0');
  return text.slice(0, count);
}

const programs = [inventedAddress('token program'), inventedAddress('token program of extensions')] as const;

/** The value of `token_info`. */
export function tokenInfoText(draft: AssetDraft): string {
  const { random, kind } = draft;
  if (kind !== 'token') {
    return `{"supply":1,"decimals":0,"token_program":"${programs[0]}","mint_authority":"${pickOwner(random)}","freeze_authority":"${pickOwner(random)}"}`;
  }
  const account = random.chance(30) ? nextAddress(random) : undefined;
  const balance = u64Text(random);
  return (
    `{${account === undefined ? '' : `"token_accounts":[{"address":"${account}","balance":${balance}}],`}` +
    (random.chance(40) ? `"symbol":"${random.pick(['TEAP', 'QUIL', 'OTTR', '🦦', ''])}",` : '') +
    `${random.chance(80) ? `"balance":${balance},` : ''}"supply":${u64Text(random)},"decimals":${random.below(10)},` +
    `"token_program":"${random.pick(programs)}"${account === undefined ? '' : `,"associated_token_address":"${account}"`}` +
    (random.chance(40) ? `,"price_info":${priceText(random)}` : '') +
    (random.chance(55) ? `,"mint_authority":"${pickOwner(random)}"` : '') +
    `${random.chance(25) ? `,"freeze_authority":${random.chance(10) ? 'null' : `"${pickOwner(random)}"`}` : ''}}`
  );
}

/** Prices as servers print them: plain, whole, and with an exponent of two digits. */
function priceText(random: SeededRandom): string {
  const price = random.pick([
    '1',
    '0.9998',
    `${1 + random.below(9)}.${digits(random, 6)}e-0${1 + random.below(9)}`,
    '2.44604e-11',
  ]);
  return `{"price_per_token":${price},"total_price":0.00${digits(random, 15)}1,"currency":"USDX"}`;
}

/** The value of `mint_extensions`: amounts are u64. */
export function mintExtensionsText({ random, id }: AssetDraft): string {
  const authority = pickOwner(random);
  const members = [`"mint_close_authority":{"close_authority":"${authority}"}`];
  if (random.chance(50)) members.push(`"transfer_fee_config":${transferFeeText(random, authority)}`);
  if (random.chance(30)) members.push(`"permanent_delegate":{"delegate":"${authority}"}`);
  if (random.chance(30)) members.push('"default_account_state":{"state":1}');
  if (random.chance(20)) members.push(`"transfer_hook":{"authority":"${authority}","program_id":null}`);
  if (random.chance(20)) members.push(...confidentialTexts(random, authority));
  if (random.chance(30)) {
    const pointed = random.chance(50) ? '' : `"authority":"${authority}",`;
    members.push(`"metadata_pointer":{${pointed}"metadata_address":"${id}"}`);
    members.push(
      `"metadata":{"uri":"https://meta.example.org/${id}","mint":"${id}","name":"Teapot Dollar","symbol":"TEAD","update_authority":"${authority}","additional_metadata":[["purpose","tea"]]}`,
    );
  }
  return `{${members.join(',')}}`;
}

function transferFeeText(random: SeededRandom, authority: string): string {
  const fee = (): string =>
    `{"epoch":${300 + random.below(500)},"maximum_fee":${u64Text(random)},"transfer_fee_basis_points":${random.below(1000)}}`;
  const authorities = random.pick([
    `"withdraw_withheld_authority":"${authority}","transfer_fee_config_authority":null`,
    `"withdraw_withheld_authority":null,"transfer_fee_config_authority":"${authority}"`,
  ]);
  return `{"withheld_amount":${u64Text(random)},"newer_transfer_fee":${fee()},"older_transfer_fee":${fee()},${authorities}}`;
}

/** Amounts here are ciphertexts, strings of digits: they are no numbers. */
function confidentialTexts(random: SeededRandom, authority: string): string[] {
  return [
    `"confidential_transfer_mint":{"authority":"${authority}","auditor_elgamal_pubkey":null,"auto_approve_new_accounts":${random.chance(50)}}`,
    `"confidential_transfer_fee_config":{"authority":"${authority}","withheld_amount":"${'1'.repeat(64)}","harvest_to_mint_enabled":true,"withdraw_withheld_authority_elgamal_pubkey":"${nextAddress(random)}"}`,
  ];
}
