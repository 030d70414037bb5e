import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import bs58 from 'bs58';
import { describe, expect, test } from 'vitest';
import {
  generatedId,
  generatedRecord,
  isMissing,
} from '../../../packages/practice-service/src/generated/generated-assets.ts';

const realAssets = new URL('../../../../shared/data/real-assets.jsonl', import.meta.url);

const ids = Array.from({ length: 6000 }, (_, n) => generatedId(11, n));
const texts = ids.map(generatedRecord);
const records = texts.map((text) => JSON.parse(text) as Record<string, unknown>);

function sha256(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** `.path.of[].member:type` for every value anywhere in the records. */
function memberTypes(values: readonly unknown[]): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const element of value) visit(element, `${path}[]`);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) visit(member, `${path}.${name}`);
    found.add(`${path}:${value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value}`);
  };
  for (const value of values) visit(value, '');
  return found;
}

/** The share of records, in percent, whose text has a match. */
function percentWith(pattern: RegExp): number {
  return (100 * texts.filter((text) => pattern.test(text)).length) / texts.length;
}

describe('generated ids', () => {
  test('are base58 of 32 bytes, some of 43 characters', () => {
    for (const id of ids) expect(bs58.decode(id)).toHaveLength(32);
    expect(new Set(ids.map(({ length }) => length))).toEqual(new Set([43, 44]));
  });

  test('differ for every pair of seed and number, also beyond 32 bits', () => {
    const numbers = [0, 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 52];
    const all = [0, 1, 2, 2024].flatMap((seed) => numbers.map((n) => generatedId(seed, n)));
    expect(new Set([...all, ...ids]).size).toBe(all.length + ids.length);
  });

  test('are the same on every machine', () => {
    expect(sha256(ids)).toBe('6f9674ec27ce70bfd6a404c86ef0ffd2a10fa3afe4564bb966c0a378f96059f8');
  });

  test('are missing in the share that was asked for, the same ones each time', () => {
    const missing = ids.filter((id) => isMissing(id, 5));
    expect(missing.length / ids.length).toBeCloseTo(0.05, 2);
    expect(missing.every((id) => isMissing(id, 5) && isMissing(id, 20))).toBe(true);
    expect(ids.some((id) => isMissing(id, 0))).toBe(false);
    expect(ids.every((id) => isMissing(id, 100))).toBe(true);
  });
});

describe('generated records', () => {
  test('are JSON objects on one line with their id', () => {
    expect(records.map(({ id }) => id)).toEqual(ids);
    expect(texts.some((text) => text.includes('\n'))).toBe(false);
  });

  test('are the same on every machine, whatever was made before', () => {
    expect(sha256(texts)).toBe('1494392259ece883229354a25a4a9562f65a0b77d9b363177087271cdb80f576');
    expect(sha256(ids.toReversed().map(generatedRecord).toReversed())).toBe(sha256(texts));
  });

  test('have the sizes of real ones: 1.5 to 1.9 KB on average, a few far above', () => {
    const sizes = texts.map((text) => Buffer.byteLength(text)).sort((a, b) => a - b);
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    expect(mean).toBeGreaterThan(1500);
    expect(mean).toBeLessThan(1900);
    expect(sizes[0]).toBeLessThan(800);
    expect(sizes[Math.floor(sizes.length * 0.99)]).toBeLessThan(3600);
    expect(sizes.at(-1)).toBeGreaterThan(10_000);
  });

  test('have every interface of the specification, those of core assets, and one that nobody knows', () => {
    const named =
      'V1_NFT V1_PRINT LEGACY_NFT V2_NFT FungibleAsset FungibleToken Custom Identity Executable ProgrammableNFT';
    const more = 'MplCoreAsset MplCoreCollection MplCoreGroup V3_NFT';
    expect(new Set(records.map((record) => record['interface']))).toEqual(new Set(`${named} ${more}`.split(' ')));
  });

  test.each([
    ['no content', /"id":"\w+","(?!content)/],
    ['empty metadata', /"metadata":\{\}/],
    ['no attributes', /"metadata":\{"(?!attributes)/],
    ['attributes that are an empty list', /"attributes":\[\]/],
    ['attributes that are an object', /"attributes":\{"tier"/],
    ['attribute values that are integers', /"value":\d+,/],
    ['attribute values that are fractions', /"value":0\.1,/],
    ['attribute values that are booleans', /"value":(true|false),/],
    ['attribute values that are null', /"value":null/],
    ['an attribute with a display type', /"display_type":"(number|date|boost_percentage)"/],
    ['no files', /"files":\[\]/],
    ['two files', /"files":\[\{[^\]]*\},\{/],
    ['a file with a cdn_uri', /"cdn_uri"/],
    ['a file with contexts', /"contexts":\["/],
    ['a file whose uri holds blanks', /"uri":"https:\/\/media.example.com\/my picture/],
    ['a file whose uri holds quotes', /"uri":"\\"https/],
    ['an empty json_uri', /"json_uri":""/],
    ['a null description', /"description":null/],
    ['an animation', /"animation_url"/],
    ['no supply', /^(?!.*"supply":(null|\{)).*$/],
    ['a null supply', /"supply":null/],
    ['an edition', /"master_edition_mint"/],
    ['a null print_max_supply', /"print_max_supply":null/],
    ['a null edition_nonce', /"edition_nonce":null/],
    ['token amounts above 2^53', /"supply":9[1-9]\d{14}\D|"supply":[1-8]\d{16,18}\D/],
    ['token amounts above 2^63', /"supply":1[0-8]\d{18}\D/],
    ['the greatest u64', /18446744073709551615/],
    ['mint extensions', /"mint_extensions":\{"/],
    ['a fee above 2^53', /"maximum_fee":[1-8]\d{16,}/],
    ['a price with an exponent', /"price_per_token":[\d.]+e-\d\d/],
    ['no token_info', /^(?!.*"token_info")/],
    ['plugins', /"plugins":\{"/],
    ['empty plugins', /"plugins":\{\}/],
    ['external plugins', /"external_plugins":\[\{/],
    ['an inscription', /"inscription":\{/],
    ['a null inscription', /"inscription":null/],
    ['rent_epoch as a rounded u64', /"rent_epoch":18446744073709552000/],
    ['compressed leaves', /"compressed":true.*"tree":"\w{32,44}"/],
    ['later compression members', /"asset_data_hash"/],
    ['burnt ones', /"burnt":true/],
    ['a royalty computed in floating point', /"percent":0\.030000000000000002/],
    ['a royalty of 0.0', /"percent":0\.0,/],
    ['a fanout or single royalty with a target', /"royalty_model":"(fanout|single)","target":"/],
    ['an empty owner', /"owner":""/],
    ['no owner', /^(?!.*"owner":)/],
    ['a delegate', /"delegate":"\w+"/],
    ['non_transferable', /"non_transferable":/],
    ['an empty authority', /"authorities":\[\{"address":""/],
    ['no authorities', /"authorities":\[\]/],
    ['two authorities', /"authorities":\[\{[^\]]*\]\},\{/],
    ['creators', /"creators":\[\{/],
    ['no creators', /"creators":\[\]/],
    ['no grouping', /"grouping":\[\]/],
    ['a verified collection', /"verified":true[,}].*"royalty"/],
    ['an unverified collection', /"group_key":"collection","group_value":[^,]+,"verified":false/],
    ['collection metadata', /"collection_metadata":\{"/],
    ['empty collection metadata', /"collection_metadata":\{\}/],
    ['a null group_value', /"group_value":null/],
    ['two groups', /"group_key":"creator"/],
    ['uses', /"uses":\{"use_method":"(burn|multiple|single)"/],
    ['a capitalised use_method', /"use_method":"Multiple"/],
    ['members that the specification lacks', /"last_indexed_slot"|"lamports"|"creators_raw"/],
    ['numbers that JavaScript cannot print back', /1e400.*-0|2\.50/],
    ['names that a spreadsheet runs', /"name":"[=+@-]/],
    ['names with quotes', /"name":"[^"]*\\"/],
    ['names with line breaks', /"name":"[^"]*\\n/],
    ['names with emoji', /"name":"[^"]*\p{Extended_Pictographic}/u],
    ['names in other scripts', /"name":"[^"]*[\p{Script=Arabic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hebrew}]/u],
    ['empty names', /"name":""/],
  ])('show %s', (_, pattern) => {
    expect(percentWith(pattern)).toBeGreaterThan(0);
  });

  test.skipIf(!existsSync(realAssets))(
    'show every member that real records have, with every type of its values',
    () => {
      const real = readFileSync(realAssets, 'utf8').trimEnd().split('\n');
      const shown = memberTypes(records);
      // The names inside an object of attributes are the author's.
      const open = /^\.content\.metadata\.attributes\.\w+/;
      const wanted = [...memberTypes(real.map((line): unknown => JSON.parse(line)))].filter((path) => !open.test(path));
      expect(wanted.length).toBeGreaterThan(200);
      expect(wanted.filter((path) => !shown.has(path))).toEqual([]);
    },
  );

  test('do not overdo it: most have content, a name of letters and an owner', () => {
    expect(percentWith(/"name":"[A-Z][a-z]+ [A-Z][a-z]+( #\d+)?"/)).toBeGreaterThan(80);
    expect(percentWith(/"owner":"\w{32,44}"/)).toBeGreaterThan(95);
  });
});
