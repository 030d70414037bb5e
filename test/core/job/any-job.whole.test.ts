import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { environmentName, type JobField, jobFields } from '../../../src/core/job/job-fields.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { textFrom } from '../../support/any-text.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';
const words = fc
  .tuple(
    textFrom(letters, { minLength: 1, maxLength: 1 }),
    textFrom(`${letters}0123456789_ ./-`, { maxLength: 10 }),
    textFrom(`${letters}0123456789`, { minLength: 1, maxLength: 1 }),
  )
  .map((parts) => parts.join(''));

/** Values that the schema takes for a field of each kind; where it takes fewer, they are named. */
const special: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'budget.account': fc.constantFrom('main', 'team-1.nights_x'),
  'budget.freeStatuses': fc.uniqueArray(fc.integer({ min: 300, max: 599 }), { minLength: 1, maxLength: 3 }),
  'budget.creditsPerSecond': fc.constantFrom(0.5, 160, 12.25),
  'budget.overrun': fc.constantFrom('none', [250], ['50%', 'auto'], ['50%'], ['12.5%', 0], [7, '200%']),
  'output.endpoint': fc.constantFrom('http://127.0.0.1:9000', 'https://store.example'),
  'fleet.database': fc.constantFrom('postgres://user@host/db', 'postgresql:///db?host=/run'),
  'service.concurrency': fc.constantFrom<'auto' | number>('auto', 1, 1000),
  'service.dialect': fc.constantFrom('metamask', 'helius', 'reference'),
  'service.url': fc.constantFrom('https://a.example', 'http://127.0.0.1:9/b', 'embedded:/records.jsonl'),
  'output.threads': fc.integer({ min: 1, max: 256 }),
  // With raw alone, or without assets, a base is a mistake; changes without one.
  'base.from': fc.constantFrom('none', '/nights/date=*'),
  'base.maxAge': fc.constantFrom('12h', '7d', 'never'),
  'base.missingAfter': fc.constantFrom('7d', 'never'),
  'base.ignore': fc.constantFrom(['burnt'], ['extra.a', 'extra.b']),
  'base.fetchedAt': fc.constantFrom('2026-11-20', '2026-11-20T02:00:00Z'),
  'ids.sample': fc.constantFrom('1%', '0.25%', '10000'),
  'output.lake': fc.constant(['none']),
  'output.formats': fc.subarray(['parquet', 'csv', 'jsonl'], { minLength: 1 }),
  'output.tables': fc.subarray(['creators', 'files']).map((tables) => ['assets', ...tables]),
  'output.columns': fc.subarray(['id', 'interface', 'burnt', 'collection'], { minLength: 1 }),
  'output.exclude': fc.subarray(['content_links', 'extra'], { minLength: 1 }),
  'output.rename': fc.constantFrom({ burnt: 'gone' }, { interface: 'kind', mutable: 'changes' }),
  'output.compression': fc.record(
    {
      parquet: fc.constantFrom('zstd', 'snappy', 'gzip', 'none'),
      csv: fc.constantFrom('none', 'gzip', 'zstd'),
      raw: fc.constantFrom('none', 'gzip', 'zstd'),
    },
    { requiredKeys: ['csv'] },
  ),
  notify: fc.constantFrom(['https://a.example/x,y'], ['http://127.0.0.1:9/a', 'https://b.example']),
  'lineage.url': fc.constantFrom('https://a.example', 'file:/lineage.ndjson'),
  'metrics.listen': fc.constantFrom('9464', '0.0.0.0:9464', '[::1]:0'),
  'tolerance.maxMissing': fc.constantFrom('20', '0.5%', '100%'),
  'tolerance.maxInvalid': fc.constantFrom('0', '50%'),
  'tolerance.maxFailed': fc.constantFrom('0', '7', '3%'),
  'tolerance.maxUnlisted': fc.constantFrom('0', '20%', '500'),
  'tolerance.maxUnproven': fc.constantFrom('0', '0.1%'),
};

function anyValue(field: JobField): fc.Arbitrary<unknown> {
  const known = special[field.path];
  if (known !== undefined) return known;
  const one: fc.Arbitrary<unknown> =
    field.choices !== undefined
      ? fc.constantFrom(...field.choices)
      : { boolean: fc.boolean(), number: fc.integer({ min: 1, max: 1000 }), string: words, pairs: fc.constant({}) }[
          field.kind
        ];
  return field.list ? fc.uniqueArray(one, { minLength: 1, maxLength: 3 }) : one;
}

const required = ['ids.from', 'service.url', 'output.dir'];
/** Fields that exclude each other by what they name. */
const together = ['ids.limit', 'ids.sample', 'output.columns', 'output.exclude', 'output.rename', 'output.proofs'];

/** Other fields of a base are a mistake without it. */
function withBase(job: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.keys(job).some((path) => path.startsWith('base.')) ? { 'base.from': 'none', ...job } : { ...job };
}

const anyJob = fc
  .record(Object.fromEntries(jobFields.map((field) => [field.path, anyValue(field)])), { requiredKeys: required })
  .chain((job) =>
    fc
      .constantFrom(...together)
      .map((kept) =>
        withBase(Object.fromEntries(Object.entries(job).filter(([path]) => !together.includes(path) || path === kept))),
      ),
  );

function treeOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const tree: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let place = tree;
    for (const name of names) place = (place[name] ??= {}) as Record<string, unknown>;
    place[last] = value;
  }
  return tree;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, item]) => `${name}=${String(item)}`)
    .join(',');
}

it('gives the same job from a file, from flags and from the environment', async () => {
  const folder = await tempFolder();
  fc.assert(
    fc.property(anyJob, (values) => {
      writeFileSync(join(folder, 'j.yaml'), stringify(treeOf(values)));
      const none = { flags: {}, environment: {}, folder };
      const file = loadJob({ ...none, file: 'j.yaml' });
      const given = jobFields.filter(({ path }) => Object.hasOwn(values, path));
      const flags = Object.fromEntries(given.map(({ flag, path }) => [flag, textOf(values[path])]));
      const environment = Object.fromEntries(
        given.map(({ flag, path }) => [environmentName(flag), textOf(values[path])]),
      );
      expect(loadJob({ ...none, flags })).toEqual(file);
      expect(loadJob({ ...none, environment })).toEqual(file);
    }),
    { seed: 20_240_601, numRuns: 200 },
  );
});
