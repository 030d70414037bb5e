import { afterEach, describe, expect, it, vi } from 'vitest';
import { childTables, recordPlan } from '../../src/core/records/scan/record-plan.ts';
import { RecordRows } from '../../src/core/records/scan/record-rows.ts';
import { assetsTable } from '../../src/core/records/columns.ts';
import { textOfCell } from '../../src/core/records/row-block.ts';
import type { JsonObject } from '../../src/lib/json/json.ts';
import { theKernel } from '../../src/lib/kernel/kernel.ts';
import { tableCount } from '../../src/lib/kernel/slots.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

describe('the kernel', () => {
  it('has a place for every table', () => {
    expect(childTables.length + 1).toBe(tableCount);
  });

  it('takes a record with more rows, more drifts and more text than there is room for at first', () => {
    const text = '\\n'.repeat(600_000);
    const groups = Array.from({ length: 30_000 }, (_, n) => `{"group_key":"k${n}","group_value":"\\u0041","odd":1}`);
    const record = `{"id":"a","content":{"metadata":{"description":"${text}","name":"${text}"}},"grouping":[${groups.join()}]}`;
    const plan = recordPlan(childTables);
    plan.root.learn({ grouping: [{ odd: 1 }] });
    const rows = new RecordRows(Buffer.from(`[${record},{"id":"b"}]`), plan);
    expect(rows.read(1, 2)).toBe(1 + record.length + ',{"id":"b"}'.length);
    expect(rows.id(1)).toBe('b');
    const [grouping = assetsTable] = childTables.filter(({ name }) => name === 'grouping');
    const block = rows.rows(grouping, [0]);
    expect(block.rows).toBe(groups.length);
    const last = (groups.length - 1) * block.width;
    expect([0, 1, 2, 3].map((column) => textOfCell(block, last + column))).toEqual(['a', '29999', 'k29999', 'A']);
    let drifts = 0;
    rows.eachDrift(0, () => (drifts += 1));
    expect(drifts).toBe(groups.length);
  });

  it('gives the memory back that a large answer took', () => {
    const large = new RecordRows(Buffer.from(`[{"id":"a","content":{"json_uri":"${'x'.repeat(60 << 20)}"}}]`));
    expect(large.read(1)).toBeGreaterThan(60 << 20);
    expect(new RecordRows(Buffer.from('[{"id":"b"}]')).read(1)).toBeGreaterThan(0);
    expect(theKernel()?.bytes.length).toBeLessThan(16 << 20);
  });

  it('reads an answer anew whose bytes lie where those of another lay', () => {
    const body = Buffer.from('[{"id":"a"}]');
    const first = new RecordRows(body);
    first.read(1);
    first.release();
    body.write('b', body.indexOf('a"}'));
    const second = new RecordRows(body);
    second.read(1);
    expect(second.id(0)).toBe('b');
  });

  it('does not look at an answer behind its end', () => {
    const body = Buffer.from('[{"id":"a","burnt":true}]');
    for (let end = 1; end < body.length - 1; end += 1) {
      // What follows in memory of its own is the rest of the record.
      expect(new RecordRows(body.subarray(0, end)).read(1)).toBe(-1);
    }
  });

  it('ends before what is no record', () => {
    const rows = new RecordRows(Buffer.from('[{"id":"a"},7]'));
    expect(rows.read(1, 2)).toBe(11);
    expect(rows.read(12, 1)).toBe(-1);
  });
});

describe('where the engine does not take the kernel', () => {
  it('everything goes the long way, and the reason is known', async () => {
    vi.resetModules();
    const Module = function refuse(): never {
      throw new SyntaxError('Wasm SIMD unsupported');
    };
    vi.stubGlobal('WebAssembly', { Memory: WebAssembly.Memory, Module });
    const kernel = await import('../../src/lib/kernel/kernel.ts');
    const scan = await import('../../src/core/records/scan/record-rows.ts');
    const { jsonlSink } = await import('../../src/core/formats/jsonl.ts');
    const { assetsTable: assets } = await import('../../src/core/records/columns.ts');
    expect(kernel.kernelProblem()).toBe('Wasm SIMD unsupported');
    const record: JsonObject = { id: 'a', burnt: true };
    const rows = new scan.RecordRows(Buffer.from(`[${JSON.stringify(record)}]`));
    expect(rows.read(1)).toBe(-1);
    rows.add(record, 1, 23);
    const written: string[] = [];
    const columns = assets.columns;
    const output = {
      write: async (bytes: Uint8Array) => {
        written.push(Buffer.from(bytes).toString());
      },
    };
    const encoder = await jsonlSink.open(output, { columns, compression: 'none', escapeFormulas: false });
    await encoder.write(rows.rows(assets, [0]));
    await encoder.end();
    expect(JSON.parse(written.join(''))).toMatchObject({ id: 'a', burnt: true, interface: null });
  });
});
