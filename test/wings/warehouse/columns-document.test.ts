import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { columnsDocument } from '../../../src/wings/warehouse/columns-document.ts';

const file = new URL('../../../docs/columns.md', import.meta.url);

it('is what docs/columns.md holds below its introduction', () => {
  const document = readFileSync(file, 'utf8');
  expect(document.slice(document.indexOf('## assets'))).toBe(columnsDocument(tables));
});

it('has a line for each column of each table', () => {
  const lines = columnsDocument(tables).split('\n');
  for (const { columns } of tables) {
    for (const { name } of columns) expect(lines.some((line) => line.startsWith(`- \`${name}\` (`))).toBe(true);
  }
});
