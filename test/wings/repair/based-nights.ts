import { cpSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { readRows } from '../../../src/exports/finished-export.ts';
import type { NamedRow } from '../../../src/core/records/table.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { type Manifest, readManifest } from '../../../src/places/export/manifest.ts';
import type { RepairOutcome } from '../../../src/wings/repair/repair-outcome.ts';
import { night, serviceWith } from '../../support/nights.ts';
import { fileBytes, runRepair } from '../../support/run-export.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';

export const allIds: readonly string[] = Array.from({ length: 130 }, (_, n) => generatedId(4, n));
const records = allIds.map(generatedRecord);

/** The records of the second night: some have another value. */
export const newer: readonly string[] = records.map((record, n) =>
  n % 7 === 0 ? record.replace('"burnt":false', '"burnt":true') : record,
);

/** Not known to the service on the first night, and not requested again on the second one. */
const unknown = allIds[5] ?? '';

const formats = ['csv', 'parquet'];
export const flagsOfNights = {
  format: formats.join(),
  tables: 'assets,creators,changes',
  'max-age': '2d',
  'base-credits': '640',
};

export const first = {
  day: 0,
  records: records.slice(0, 110).filter((record) => !record.includes(unknown)),
  ids: allIds.slice(0, 110),
};
export const second = { day: 2, records: newer, ids: allIds.slice(1) };

export interface TwoNights {
  readonly top: string;
  readonly base: string;
  readonly out: string;
  /** What a repair is told: where all is. */
  readonly where: { readonly ids: string; readonly url: string; readonly out: string };
  /** The files of the second night as they were made, by path. */
  readonly whole: Readonly<Record<string, string>>;
  readonly manifest: Manifest;
}

/** Two nights of four parts: the second one has carried rows, stale ones, new ids and one that is not listed any more. */
export async function twoNights(
  more: Readonly<Record<string, unknown>> = {},
  service: readonly string[] = newer,
): Promise<TwoNights> {
  const top = await tempFolder();
  await makeNights(top, more);
  return openNights(top, service);
}

/** Two nights for each test of a file: those with the same flags are made once, and put where they were made. */
export function nightsOfFile() {
  const made = new Map<unknown, Promise<string>>();
  const folders: Awaited<ReturnType<typeof keptFolder>>[] = [];
  afterAll(() => Promise.all(folders.map(({ remove }) => remove())));
  const make = async (more: Readonly<Record<string, unknown>>): Promise<string> => {
    const folder = await keptFolder();
    folders.push(folder);
    const top = join(folder.path, 'nights');
    mkdirSync(top);
    await makeNights(top, more);
    cpSync(top, join(folder.path, 'made'), { recursive: true });
    return top;
  };
  return async (more: Readonly<Record<string, unknown>> = {}, service = newer): Promise<TwoNights> => {
    const key = JSON.stringify(more);
    const making = made.get(key) ?? make(more);
    made.set(key, making);
    const top = await making;
    rmSync(top, { recursive: true });
    cpSync(join(dirname(top), 'made'), top, { recursive: true });
    return openNights(top, service);
  };
}

const pathsIn = (top: string) => ({
  base: join(top, 'date=2026-11-20'),
  out: join(top, 'date=2026-11-22'),
  ids: join(top, 'ids.txt'),
});

async function makeNights(top: string, more: Readonly<Record<string, unknown>>): Promise<void> {
  const { base, out, ids } = pathsIn(top);
  writeFileSync(ids, `${second.ids.join('\n')}\n`);
  await night({ ...first, out: base, flags: { ...flagsOfNights, ...more, base: 'none', tables: 'assets,creators' } });
  await night({ ...second, out, flags: { ...flagsOfNights, ...more, base, ids } });
}

/** @param service the records that a service has now */
async function openNights(top: string, service: readonly string[]): Promise<TwoNights> {
  const { base, out, ids } = pathsIn(top);
  const { url, stop } = await serviceWith(service);
  onTestFinished(stop);
  return { top, base, out, where: { ids, url, out }, whole: fileBytes(out), manifest: await manifestIn(out) };
}

export async function manifestIn(folder: string): Promise<Manifest> {
  const manifest = await readManifest(localDisk, folder);
  if (manifest === undefined) throw new Error(`${folder} is not complete`);
  return manifest;
}

/** Removes tables of a part in every format. */
export function loseTables(out: string, part: number, tables = ['assets', 'creators', 'changes']): void {
  for (const format of formats)
    for (const table of tables) rmSync(join(out, `${format}/${table}/part-0000${part}.${format}`));
}

export function cutFile(out: string, path: string): void {
  truncateSync(join(out, path), 20);
}

/** Repairs, and counts the calls that are sent. */
export async function repairCounted(
  repair: Parameters<typeof runRepair>[0],
): Promise<RepairOutcome & { readonly sent: number }> {
  let sent = 0;
  const listener = ({ kind }: { readonly kind: string }): void => {
    if (kind === 'sent') sent += 1;
  };
  const outcome = await runRepair({ ...repair, context: { listener, ...repair.context } });
  return { ...outcome, sent };
}

export async function rowsIn(folder: string, table: string, part?: number): Promise<NamedRow[]> {
  const manifest = await manifestIn(folder);
  const counts = manifest.files.filter((file) => file.table === table && file.format === formats[0]);
  const rows: NamedRow[] = [];
  for await (const row of readRows({ files: localDisk, folder, table })) rows.push(row);
  if (part === undefined) return rows;
  const from = counts.filter((file) => file.part < part).reduce((sum, file) => sum + file.rows, 0);
  return rows.slice(from, from + (counts.find((file) => file.part === part)?.rows ?? 0));
}
