import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, it, onTestFinished } from 'vitest';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { exportBytes, runExport, runRepair } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const [a = '', b = '', c = ''] = [1, 2, 3].map((n) => generatedId(7, n));

/** Longer than what is kept of a text: of base58, with the half of a character at its end, and of blanks. */
const long = ['x'.repeat(201), 'x'.repeat(5000), `${'x'.repeat(199)}😀 more`, `${a} ${'word '.repeat(60)}`];
/** What a table of text may turn into something else. */
const odd = ['=1+1', 'invalid: no', '"', "a'b", 'a\tb', 'a\u0000b', '[1]', `${a},${b.slice(1)}`, 'ä'];
const texts = [...long, ...odd];
const tooLong = 'y'.repeat(70_000);
const csvCell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const values = [
  ...['', {}, { id: null }, { id: '' }, { id: ['x'] }, { mint: 5 }, { x: 1 }, [a], true, null, 12, '\ud800', 'a\r\nb'],
  ...[...texts, ...texts.map((text) => ({ id: text })), `${a}\ud800`, { id: b }, c, c],
];

/** A list in every format, with what is no id in that format. */
const lists: Readonly<Record<string, string | Uint8Array>> = {
  'ids.txt': Buffer.concat([
    Buffer.from([a, ...texts, tooLong, b, `${a} ${b} no`, 'x y'].join('\n')),
    Buffer.from([10, 0xff, 0xfe, 0x41, 10]),
  ]),
  'words.txt': [a, b, ...Array<string>(1600).fill(c), 'z', 'z'.repeat(70_000)].join(' '),
  'ids.csv': ['name,id', `1,${a}`, '1', '1,', '1,""', `1,${tooLong}`, '"1","a\r\nb"']
    .concat(texts.map((text) => `1,${csvCell(text)}`))
    .join('\n'),
  'ids.json': JSON.stringify([a, ...values], undefined, 1),
  'ids.jsonl': [...[a, ...values].map((value) => JSON.stringify(value)), `{"id": ${a}`, '{"id":'].join('\n'),
  'ids.parquet': new Uint8Array(
    parquetWriteBuffer({ columnData: [{ name: 'id', data: [a, null, '', ' ', ...texts, b], type: 'STRING' }] }),
  ),
};

it.each(Object.keys(lists))('why an entry of %s is invalid is kept with it', async (name) => {
  const folder = await tempFolder();
  const list = join(folder, name);
  writeFileSync(list, lists[name] ?? '');
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const out = join(folder, 'out');
  const flags = { ids: list, out, url: service.url, format: 'csv', 'max-invalid': '100%' };
  const { account } = await runExport({ flags });
  expect(account.counts.invalid).toBeGreaterThan(1);
  const whole = exportBytes(out);
  const { calls } = service.counts();
  rmSync(join(out, 'unexported/part-00000.csv'));
  writeFileSync(list, `${c}\n`);
  const outcome = await runRepair({ flags, pays: false });
  expect(outcome).toMatchObject({ rebuilt: ['unexported/part-00000.csv'], after: { damage: [] } });
  expect(exportBytes(out)).toEqual(whole);
  expect(service.counts().calls).toBe(calls);
});

it('the state of an entry names its reason where its text does not', async () => {
  const folder = await tempFolder();
  const list = join(folder, 'ids.csv');
  writeFileSync(list, `id,n\n${a},1\nno,2\n,3\n${a},4\n`);
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const out = join(folder, 'out');
  await runExport({ flags: { ids: list, out, url: service.url, format: 'csv', 'max-invalid': '100%' } });
  const lines = gunzipSync(readFileSync(join(out, 'ids/part-00000.csv.gz')))
    .toString()
    .split('\n');
  expect(lines.slice(1, -1).map((line) => line.slice(list.length + 1))).toEqual([
    ...[`2,${a},valid`, '3,no,invalid', '4,"",invalid: empty id column', `5,${a},duplicate`],
  ]);
});
