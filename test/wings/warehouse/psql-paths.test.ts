import { expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import { postgres } from '../../../src/wings/warehouse/postgres.ts';

const folders = ['/out\n\\! touch /tmp/x', '/out\rx'];
const files = [undefined, ['csv/assets/part-00000.csv'], ['csv/assets/part-00000.csv.gz']];

it.each(['csv', 'jsonl'] as const)('psql gets no path with a line break: %s', (format) => {
  for (const folder of folders) {
    for (const each of files) {
      const source = { table: assetsTable, format, folder, ...(each === undefined ? {} : { files: each }) };
      expect(() => postgres.load(source)).toThrow('the path has a line break');
    }
  }
});
