import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadRequest } from '../../src/load/load-export.ts';
import { diskFileStore } from '../../src/store/file-store.ts';
import { runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';
import type { LocalRecords } from './local-records.ts';

/** Makes an export of the first `count` records, in a folder of its own unless a flag says where. */
export function exportsOf(service: LocalRecords) {
  return async (count: number, flags: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const out = typeof flags['out'] === 'string' ? flags['out'] : await tempFolder();
    const ids = join(await tempFolder(), 'ids.txt');
    await writeFile(ids, service.ids.slice(0, count).join('\n'));
    const all = { ids, url: service.url, tables: 'assets,creators,files', 'rows-per-part': '40', ...flags, out };
    const { state, error } = await runExport({ flags: all });
    if (state !== 'complete') throw error ?? new Error(state);
    return out;
  };
}

export function request(folder: string, kind: LoadRequest['kind'], mode: LoadRequest['mode'] = 'replace'): LoadRequest {
  return { files: diskFileStore, folder, kind, mode };
}
