import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readRows } from '../../../src/exports/read-rows.ts';
import { verifyExport } from '../../../src/exports/verify-export.ts';
import type { CustomRow, CustomSink } from '../../../src/core/formats/custom-sink.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runExport, runRepair } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Tab-separated values: a header, one line a row, and the number of rows as a footer. */
const tsv: CustomSink = {
  name: 'tsv',
  extension: 'tsv',
  open: async (output, { columns }) => {
    const names = columns.map(({ name }) => name);
    await output.write(Buffer.from(`${names.join('\t')}\n`));
    let count = 0;
    return {
      write: async (rows) => {
        count += rows.length;
        const lines = rows.map((row) => names.map((name) => JSON.stringify(row[name], bigText)).join('\t'));
        await output.write(Buffer.from(`${lines.join('\n')}\n`));
      },
      end: () => output.write(Buffer.from(`# ${count}\n`)),
    };
  },
};

function bigText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

async function exportsWith(sinks: readonly CustomSink[]) {
  const folder = await tempFolder();
  const service = await startGeneratedService({ missingPercent: 5 });
  onTestFinished(() => service.stop());
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 130, invalidPercent: 3 });
  const out = join(folder, 'out');
  const parts = { 'ids-per-call': '10', 'rows-per-part': '50' };
  const flags = { ids, out, url: service.url, format: 'jsonl', tables: 'assets,creators', ...parts };
  return { out, flags, run: (more = {}) => runExport({ flags: { ...flags, ...more }, sinks }) };
}

it('a program writes a format of its own, with the rows of every other format', async () => {
  const { out, run } = await exportsWith([tsv]);
  const outcome = await run();
  expect(outcome.state).toBe('complete');
  for (const table of ['assets', 'creators']) {
    const rows: CustomRow[] = [];
    for await (const row of readRows({ files: diskFileStore, folder: out, table })) rows.push(row);
    const files = outcome.account.files.filter((file) => file.format === 'tsv' && file.table === table);
    const texts = files.map(({ path }) => readFileSync(join(out, path), 'utf8').split('\n'));
    const [names = []] = texts.map(([header = '']) => header.split('\t'));
    const written = texts.flatMap((lines) => lines.slice(1, -2));
    expect(written).toEqual(rows.map((row) => names.map((name) => JSON.stringify(row[name], bigText)).join('\t')));
    expect(texts.map((lines) => lines.at(-2))).toEqual(files.map((file) => `# ${file.rows}`));
  }
  expect((await verifyExport(diskFileStore, out)).damage).toEqual([]);
  expect((await run()).state).toBe('already');
});

it('a changed file of a custom format is damage, which only its program can repair', async () => {
  const { out, flags, run } = await exportsWith([tsv]);
  await run();
  appendFileSync(join(out, 'tsv/assets/part-00001.tsv'), 'x');
  expect((await verifyExport(diskFileStore, out)).damage).toMatchObject([{ path: 'tsv/assets/part-00001.tsv' }]);
  await expect(runRepair({ flags })).rejects.toMatchObject({ exit: 'usage', message: /format tsv/ });
});

it('an export that began with a custom format does not continue without it', async () => {
  const { flags, run } = await exportsWith([tsv]);
  await run();
  await expect(runExport({ flags })).rejects.toMatchObject({ exit: 'usage', message: /^sinks was \["tsv"\]/ });
});

it('names of custom formats are checked before anything is sent', async () => {
  for (const name of ['csv', 'unexported', '../up', '']) {
    const { run } = await exportsWith([{ ...tsv, name }]);
    await expect(run()).rejects.toMatchObject({ exit: 'usage' });
  }
  const { run } = await exportsWith([tsv, { ...tsv, name: 'TSV' }]);
  await expect(run()).rejects.toMatchObject({ exit: 'usage', message: /duplicate format name/ });
});

it('files of a custom format go with the export that is begun anew', async () => {
  const { out, flags, run } = await exportsWith([tsv]);
  await run();
  writeFileSync(flags.ids, readFileSync(flags.ids, 'utf8').split('\n').slice(0, 40).join('\n'));
  await runExport({ flags, sinks: [tsv], fresh: true });
  expect(await diskFileStore.list(join(out, 'tsv/assets'))).toEqual(['part-00000.tsv']);
});

it('an encoder that fails ends the run with its error', async () => {
  const failing: CustomSink = {
    ...tsv,
    open: () => ({ write: () => Promise.reject(new Error('no room in the sink')), end: () => Promise.resolve() }),
  };
  const { run } = await exportsWith([failing]);
  await expect(run()).rejects.toThrow('no room in the sink');
});
