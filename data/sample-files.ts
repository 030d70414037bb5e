import { gzipSync } from 'fflate';
import { generatedId, generatedRecord } from '../packages/practice-service/src/generated/generated-assets.ts';
import { csvText, hashlistText, jsonlText, linesText } from './id-files.ts';
import { sampleReadme } from './sample-readme.ts';
import { type SampleEntry, sampleEntries, type SamplePlan, sampleRecords, sampleSeed } from './sample-ids.ts';

interface IdFile extends SamplePlan {
  readonly name: string;
  readonly about: string;
  readonly encode: (entries: readonly SampleEntry[]) => Uint8Array;
}

/** In reading order: it decides which occurrence of an id is the duplicate. */
const idFiles: readonly IdFile[] = [
  {
    name: 'ids.txt',
    about: 'an id a line; BOM, a few CRLF, blank lines, blanks, quotes and zero-width spaces around ids',
    encode: (entries) => utf8(linesText(entries)),
    from: 0,
    found: 1300,
    missing: 20,
    invalid: 14,
    duplicate: 12,
  },
  {
    name: 'hashlist.json',
    about: 'one JSON array of strings',
    encode: (entries) => utf8(hashlistText(entries)),
    from: 1300,
    found: 800,
    missing: 15,
    invalid: 8,
    duplicate: 9,
  },
  {
    name: 'mints.csv',
    about: 'CSV; the ids are in the column `mint`; quoted cells with commas, quotes, line breaks',
    encode: (entries) => utf8(csvText(entries)),
    from: 2100,
    found: 500,
    missing: 15,
    invalid: 7,
    duplicate: 6,
  },
  {
    name: 'more-ids.jsonl.gz',
    about: 'JSON objects, one a line, gzipped; the ids are in the member `id`',
    encode: (entries) => gzip(utf8(jsonlText(entries))),
    from: 2600,
    found: 400,
    missing: 10,
    invalid: 6,
    duplicate: 8,
  },
];

/** Every file of `data/` that is made, by name. */
export function sampleFiles(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const records = Array.from({ length: sampleRecords }, (_, n) => generatedRecord(generatedId(sampleSeed, n)));
  files.set('assets.jsonl.gz', gzip(utf8(`${byCollection(records).join('\n')}\n`)));
  const entries = sampleEntries(idFiles);
  for (const [index, { name, encode }] of idFiles.entries()) files.set(name, encode(entries[index] ?? []));
  files.set('README.md', utf8(sampleReadme(idFiles, records)));
  return files;
}

/** Neighbours share addresses, which gzip sees only where they stand close: a quarter less to keep in the repository. */
function byCollection(records: readonly string[]): string[] {
  const sorted = records.map((text) => ({ text, collection: /"group_value":"(\w+)"/.exec(text)?.[1] ?? '' }));
  return sorted
    .sort((a, b) => Number(a.collection > b.collection) - Number(a.collection < b.collection))
    .map(({ text }) => text);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** By fflate and not by zlib, whose bytes differ between versions and processors; without a time. */
function gzip(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 9, mtime: 0 });
}
