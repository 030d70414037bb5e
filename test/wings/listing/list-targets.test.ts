import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { listHere } from '../../support/listing/list-here.ts';
import { ListWire } from '../../support/listing/list-wire.ts';
import { SimulatedIndex } from '../../support/listing/simulated-index.ts';

const wireOf = () => new ListWire(new SimulatedIndex({ rows: 300, seed: 1 }));

describe('where a list goes', () => {
  const wrong = {
    'is a folder': { out: 'dir', says: /dir is a folder/, todo: /dir.mints\.txt/ },
    'has the ending of another format': { out: 'mints.parquet', says: /mints\.parquet.*parquet/, todo: /\.txt/ },
    'is that of its records': { out: 'same', records: 'same', says: /--records .*same.* --out/ },
    'is beside its records, which are where its pages are': {
      out: 'mints.txt',
      records: 'mints.txt.ids/records',
      says: /--records .*mints\.txt\.ids/,
    },
    'leaves its records a file': { out: 'mints.txt', records: 'file', says: /--records .*file.* is a file/ },
  } as const satisfies Record<string, { out: string; records?: string; says: RegExp; todo?: RegExp }>;

  it.each(Object.entries(wrong))('is refused before the first call where it %s', async (_, { out, says, ...more }) => {
    const wire = wireOf();
    const list = await listHere(wire);
    const folder = dirname(list.out);
    await mkdir(join(folder, 'dir'));
    await writeFile(join(folder, 'file'), '');
    const { records, todo } = { records: undefined, todo: /./, ...more };
    const to = { out: join(folder, out), ...(records === undefined ? {} : { records: join(folder, records) }) };
    await expect(list.run(to)).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(says) as string,
      todo: expect.stringMatching(todo) as string,
    });
    expect(wire.sent).toEqual([]);
    await expect(stat(`${to.out}.ids`)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(['gz', 'gzip'])('is compressed wherever a reader takes it for that: .%s', async (ending) => {
    const list = await listHere(wireOf());
    const out = `${list.out}.${ending}`;
    await list.run({ out });
    expect(
      gunzipSync(await readFile(out))
        .toString()
        .split('\n'),
    ).toHaveLength(301);
  });
});
