import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { LoadRequest } from '../../../src/wings/load/load-export.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { runExport } from '../../support/run-export.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { fewColumns } from '../warehouse/diff/two-nights.ts';
import { type LocalRecords, startLocalService } from './local-records.ts';

/** Starts the service on local records for the tests of a file, which ends with them, and what makes exports of it. */
export async function localExports() {
  const service = await startLocalService();
  afterAll(() => service.close());
  const exported = exportsOf(service);
  return { service, exported, shared: sharedExports(exported) };
}

/** Makes exports that the tests of a file share: they must not change them, nor depend on which one is newer. */
function sharedExports(exported: ReturnType<typeof exportsOf>) {
  const made = new Map<string, Promise<string>>();
  const folders: Awaited<ReturnType<typeof keptFolder>>[] = [];
  afterAll(() => Promise.all(folders.map(({ remove }) => remove())));
  const make: typeof exported = async (count, flags) => {
    const folder = await keptFolder();
    folders.push(folder);
    return exported(count, { ...flags, out: folder.path });
  };
  return (count: number, flags: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const key = JSON.stringify([count, flags]);
    const known = made.get(key) ?? make(count, flags);
    made.set(key, known);
    return known;
  };
}

/** Makes an export of the first `count` records, with few of their columns, in a folder of its own unless a flag says where. */
function exportsOf(service: LocalRecords) {
  return async (count: number, flags: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const out = typeof flags['out'] === 'string' ? flags['out'] : await tempFolder();
    const ids = join(await tempFolder(), 'ids.txt');
    await writeFile(ids, service.ids.slice(0, count).join('\n'));
    const parts = { 'ids-per-call': '20', 'rows-per-part': '40' };
    const all = {
      ids,
      url: service.url,
      tables: 'assets,creators,files',
      columns: fewColumns,
      ...parts,
      ...flags,
      out,
    };
    const { state, error } = await runExport({ flags: all });
    if (state !== 'complete') throw error ?? new Error(state);
    return out;
  };
}

export function request(folder: string, kind: LoadRequest['kind'], mode: LoadRequest['mode'] = 'replace'): LoadRequest {
  return { files: localDisk, folder, kind, mode };
}
