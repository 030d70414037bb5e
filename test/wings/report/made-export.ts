import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { localDisk } from '../../../src/places/files/disk.ts';
import type { ReportData } from '../../../src/wings/report/report-data.ts';
import { type ReportedExport, readExportReport } from '../../../src/wings/report/report-export.ts';
import { runHere } from '../../support/run-here.ts';
import type { ProgramRun } from '../../support/run-program.ts';

/** The n-th id of a made-up export. */
export function idOf(n: number): string {
  return bs58.encode(Buffer.alloc(32, n + 1));
}

const points = [0, 49, 50, 500, 500, 999, 1000, 5000, 500];
const json = [
  'https://a.example/0',
  'https://a.example/1',
  'https://a.example/2',
  'http://b.example:81/',
  'ipfs://q',
  '',
];

/** Ten records whose every count is known by hand. */
export const tenRecords: readonly object[] = Array.from({ length: 10 }, (_, n) => ({
  interface: n < 6 ? 'V1_NFT' : n < 9 ? 'Custom' : 'Executable',
  id: idOf(n),
  content: {
    ...(json[n] === undefined ? {} : { json_uri: json[n] }),
    metadata: {
      name: `Name ${n}`,
      ...(n < 8 ? { symbol: n < 5 ? 'S' : '' } : {}),
      ...(n < 3
        ? {
            attributes: [
              { trait_type: 'Hat', value: n < 2 ? 'Red' : 'Blue' },
              ...(n === 0 ? [{ trait_type: 'Eyes', value: '2' }] : []),
            ],
          }
        : {}),
    },
    ...(n < 2 ? { links: { image: 'https://img.example/1.png' } } : {}),
  },
  ...(points[n] === undefined ? {} : { royalty: { royalty_model: 'creators', basis_points: points[n] } }),
  ...(n < 9 ? { mutable: n < 7 } : {}),
  ...(n === 0
    ? {
        creators: [
          { address: idOf(50), share: 50, verified: true },
          { address: idOf(51), share: 50, verified: false },
        ],
      }
    : n === 1
      ? { creators: [{ address: idOf(50), share: 100, verified: true }] }
      : {}),
  ...(n < 5
    ? {
        grouping: [
          {
            group_key: 'collection',
            group_value: idOf(n < 4 ? 60 : 61),
            ...(n < 4 ? { collection_metadata: { name: 'The First' } } : {}),
          },
        ],
      }
    : {}),
  ...(n < 2 ? { supply: { print_max_supply: n * 10 } } : {}),
}));

export const allTables = 'assets,creators,authorities,grouping,collections,files,attributes';

export interface MadeExport {
  /** A folder of the test. */
  readonly cwd: string;
  readonly records?: readonly object[];
  /** The lines of the id file; an id of each record unless given. */
  readonly ids?: readonly string[];
  readonly out?: string;
  readonly flags?: readonly string[];
}

/** Exports records by the built program. Resolves to the folder of the export. */
export async function madeExport(made: MadeExport): Promise<string> {
  const { exit, stderr } = await runMade(made);
  if (exit !== 0 && exit !== 3) throw new Error(`exit ${exit}: ${stderr}`);
  return join(made.cwd, made.out ?? 'out');
}

export async function runMade(made: MadeExport): Promise<ProgramRun> {
  const { cwd, records = tenRecords, out = 'out', flags = [] } = made;
  writeFileSync(join(cwd, 'assets.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const ids = made.ids ?? records.map((record) => (record as { readonly id: string }).id);
  writeFileSync(join(cwd, 'ids.txt'), ids.map((id) => `${id}\n`).join(''));
  const args = ['run', '--ids', 'ids.txt', '--url', 'embedded:assets.jsonl', '--out', out, '--threads', '1', ...flags];
  return runHere(args, { cwd });
}

export function dataOf(folder: string, more: Partial<ReportedExport> = {}): Promise<ReportData> {
  const place = inFolder(localDisk, folder);
  return readExportReport({ place, nowMs: 0, version: '0.0.0-test', ...more });
}
