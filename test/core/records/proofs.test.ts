import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { assetsTable, proofColumns, provenColumns } from '../../../src/core/records/columns.ts';
import { flattenAsset } from '../../../src/core/records/flatten-asset.ts';
import { proveRow, type Verdicts, keccak } from '../../../src/core/records/proofs/prove-row.ts';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Cell } from '../../../src/core/records/table.ts';
import { putLeafHashes } from '../../../packages/practice-service/src/generated/leaf-hashes.ts';
import { hasRealRecords, parseObject, realRecordTexts } from './any-json.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const isCompressed = (text: string): boolean => text.includes('"compressed":true');

function verdictsOf(cells: readonly Cell[], prove = proveRow): Verdicts {
  return prove(blockOf(assetsTable.columns, [cells]), 0);
}

function cellsOf(text: string): Cell[] {
  return [...flattenAsset(parseObject(text)).row];
}

/** How many verdicts are true, and how many false, by column. */
function sums(texts: readonly string[], prove = proveRow): [agreeing: number[], others: number[]] {
  const verdicts = texts.map((text) => verdictsOf(cellsOf(text), prove));
  const times = (verdict: boolean) =>
    proofColumns.map((_, at) => verdicts.filter((each) => each[at] === verdict).length);
  return [times(true), times(false)];
}

const generated = Array.from({ length: 1200 }, (_, n) => generatedRecord(generatedId(3, n))).filter(isCompressed);

describe('verdicts', () => {
  it.runIf(hasRealRecords)('of real records say how far each is of one piece', () => {
    expect(sums(realRecordTexts())).toEqual([
      [39, 36, 28],
      [0, 3, 11],
    ]);
  });

  it('of generated records are true, by hashes that were written apart', () => {
    expect(generated.length).toBeGreaterThan(150);
    expect(sums(generated)).toEqual([Array(3).fill(generated.length), [0, 0, 0]]);
  });

  it('are the same without the kernel', async () => {
    vi.resetModules();
    const Module = function refuse(): never {
      throw new SyntaxError('no kernel');
    };
    vi.stubGlobal('WebAssembly', { Memory: WebAssembly.Memory, Module });
    const slow = await import('../../../src/core/records/proofs/prove-row.ts');
    const texts = [...generated.slice(0, 20), ...realRecordTexts()];
    expect(sums(texts, slow.proveRow)).toEqual(sums(texts));
  });

  it('are null where a record is not compressed, or lacks the hash', () => {
    const cells = cellsOf(generated[0] ?? '');
    const without = (...names: string[]): Verdicts =>
      verdictsOf(cells.map((cell, at) => (names.includes(assetsTable.columns[at]?.name ?? '') ? null : cell)));
    expect(without('compression_compressed')).toEqual([null, null, null]);
    expect(without('compression_data_hash')).toEqual([true, null, null]);
    expect(without('compression_creator_hash')).toEqual([null, true, null]);
    expect(without('compression_asset_hash')).toEqual([true, true, null]);
  });
});

/** Which verdicts a column decides: of creators, metadata and leaf. */
const decides: Readonly<Record<string, string>> = {
  ...Object.fromEntries(provenColumns.map((name) => [name, 'metadata'])),
  ...{ id: 'leaf', ownership_owner: 'leaf', ownership_delegate: 'leaf', compression_leaf_id: 'leaf', extra: 'leaf' },
  ...{ compression_asset_hash: 'leaf', compression_data_hash: 'metadata leaf', creators: 'creators metadata' },
  ...{ compression_creator_hash: 'creators leaf', compression_compressed: 'creators metadata leaf' },
};

const otherKey = 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY';

function changed(cell: Cell, name: string): Cell {
  if (typeof cell === 'boolean') return !cell;
  if (typeof cell === 'number') return cell + 1;
  if (name.endsWith('token_standard')) return 'FungibleAsset';
  if (name === 'uses_use_method') return 'burn';
  if (name === 'creators') return String(cell).replace('"share":', '"share":1');
  if (name === 'grouping') return String(cell).replace('"verified":true', '"verified":false');
  if (name === 'extra') return String(cell).replace('"flags":0', '"flags":1');
  return /hash|owner|delegate|^id|collection|tree/.test(name) ? otherKey : `${String(cell)}x`;
}

/** A record of which every column that decides something has a value. */
function wholeRecord(version: 1 | 2): Cell[] {
  const record = parseObject(generated[0] ?? '');
  const key = 'CXkoUp1FpuHXSqyMzhchWJymR4oqqNaspVmWCMuwuL6f';
  const later = { collection_hash: key, asset_data_hash: key, flags: 0 };
  Object.assign(record, {
    compression: { compressed: true, tree: key, seq: 1, leaf_id: 5, ...(version === 1 ? {} : later) },
    content: { json_uri: 'u', metadata: { name: 'n', symbol: 's', token_standard: 'NonFungible' } },
    grouping: [{ group_key: 'collection', group_value: key, verified: true }],
    creators: [{ address: key, share: 9, verified: true }],
    ownership: { owner: key, delegate: key, delegated: true },
    uses: { use_method: 'multiple', remaining: 1, total: 2 },
    supply: { edition_nonce: 254 },
    mutable: true,
  });
  putLeafHashes(record);
  return [...flattenAsset(record).row];
}

/** Columns that leaves of version 2 do not hold. */
const ofVersion1 = ['grouping', 'uses_use_method', 'uses_remaining', 'uses_total', 'supply_edition_nonce'];

describe.each([1, 2] as const)('of a leaf of version %i', (version) => {
  const cells = wholeRecord(version);

  it.each(assetsTable.columns.map(({ name }, at) => [name, at] as const))(
    '%s decides what it stands for',
    (name, at) => {
      expect(verdictsOf(cells)).toEqual([true, true, true]);
      const now = cells.with(at, changed(cells[at] ?? null, name));
      const isFree = version === 1 ? name === 'extra' : ofVersion1.includes(name);
      const fall = isFree ? '' : (decides[name] ?? '');
      const fallen = name === 'compression_compressed' ? null : false;
      expect(verdictsOf(now)).toEqual(
        ['creators', 'metadata', 'leaf'].map((kind) => (fall.includes(kind) ? fallen : true)),
      );
    },
  );
});

it('the kernel hashes as the library does, up to the bytes for which it has room and beyond', () => {
  for (let length = 0; length < 4400; length += 1 + (length >> 5)) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 7 + length) & 255);
    expect(Buffer.from(keccak(bytes)).toString('hex')).toBe(Buffer.from(keccak_256(bytes)).toString('hex'));
  }
});
