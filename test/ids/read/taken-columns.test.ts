import { describe, expect, it } from 'vitest';
import { expandInputs } from '../../../src/ids/id-input.ts';
import { takenColumns } from '../../../src/ids/read/taken-columns.ts';
import { idOf, inputError, writeFiles } from './id-files.ts';

const ids = Array.from({ length: 5 }, (_, index) => idOf(index));
const wallets = ids.map((id, index) => `name ${index},${id}`).join('\n');

async function columnsOf(files: Readonly<Record<string, string>>, column?: string) {
  const baseDir = await writeFiles(files);
  return takenColumns(await expandInputs({ from: Object.keys(files), baseDir }), column);
}

describe('the column of ids', () => {
  it('is named for each input that has columns, with whether it was guessed', async () => {
    const taken = await columnsOf({
      'a.csv': `name,mint\n${wallets}\n`,
      'b.csv': `address;name\n${ids.map((id) => `${id};x`).join('\n')}\n`,
      'c.jsonl': ids.map((id) => JSON.stringify({ owner: 'x', id })).join('\n'),
      'd.json': JSON.stringify(ids),
      'e.txt': ids.join('\n'),
      'f.csv': '',
      'g.csv': `${ids.join('\n')}\n`,
    });
    expect(taken).toEqual([
      { input: 'a.csv', column: 'mint', guessed: false },
      { input: 'b.csv', column: 'address', guessed: true },
      { input: 'c.jsonl', column: 'id', guessed: false },
      { input: 'g.csv', column: 'the first column, because there is no header', guessed: true },
    ]);
  });

  it('is the one that the user names, which is no guess and may hold no id', async () => {
    const taken = await columnsOf({ 'a.csv': `name,address\n${wallets}\n` }, 'name');
    expect(taken).toEqual([{ input: 'a.csv', column: 'name', guessed: false }]);
  });

  it.each([
    ['wallets.csv', `name,address\n${wallets}\n`, 'wallets.csv:2: "name 0"'],
    ['wallets.jsonl', ids.map((address) => JSON.stringify({ name: 'Alice', address })).join('\n'), 'wallets.jsonl:1:'],
    ['wallets.json', JSON.stringify(ids.map((address) => ({ name: 'Bob', address }))), 'wallets.json:1: "Bob"'],
  ])('is refused when it is guessed and holds no id: %s', async (name, text, sample) => {
    const error = await inputError(columnsOf({ [name]: text }));
    expect(error.message).toContain(
      `${name} has no column id or mint, and the first column "name" has no id in 5 rows`,
    );
    expect(error.message).toContain(sample);
    expect(error.message.split('\n')).toHaveLength(4);
    expect(error.todo).toContain('--id-column or ids.column. The columns are: name, address');
  });

  it('is refused by its first 1,000 rows, whatever stands behind them', async () => {
    const rows = (invalid: number) => `name\n${'x\n'.repeat(invalid)}${ids[0] ?? ''}\n`;
    expect(await columnsOf({ 'a.csv': rows(999) })).toMatchObject([{ column: 'name', guessed: true }]);
    expect((await inputError(columnsOf({ 'a.csv': rows(1000) }))).message).toContain('no id in 1000 rows');
  });
});

it('files of ids that are missing are reported all at once', async () => {
  const baseDir = await writeFiles({ 'there.txt': '' });
  const error = await inputError(expandInputs({ from: ['no.txt', 'there.txt', 'none/*.csv'], baseDir }));
  expect(error.message).toContain('no.txt: no such file');
  expect(error.message).toContain('no file matches none/*.csv');
});
