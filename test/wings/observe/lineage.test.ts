import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { exitCodes } from '../../../src/lib/exit-codes.ts';
import { lineageAddress, lineageOf } from '../../../src/wings/observe/lineage.ts';
import { noCounts } from '../../../src/places/export/export-facts.ts';
import type { RunEnd } from '../../../src/core/work/run-observer.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { followRun, runId } from './follow-run.ts';

const text = { type: 'string' };
const uri = { type: 'string', format: 'uri' };
const uuid = { type: 'string', format: 'uuid' };
const object = (properties: object, required: readonly string[]) => ({ type: 'object', properties, required });
const facet = (properties: object, required: readonly string[]) =>
  object({ _producer: uri, _schemaURL: { ...uri, pattern: '^https://openlineage\\.io/spec/facets/' }, ...properties }, [
    '_producer',
    '_schemaURL',
    ...required,
  ]);
const facets = (named: object) => ({ type: 'object', properties: named, additionalProperties: facet({}, []) });
const count = { type: 'integer', minimum: 0 };

/** What a RunEvent of OpenLineage 2-0-2 and the facets used here must be. Written from their documents: the schema is in no package. */
const runEvent = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...object(
    {
      eventType: { enum: ['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL', 'OTHER'] },
      eventTime: { type: 'string', format: 'date-time' },
      producer: uri,
      schemaURL: { ...uri, const: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent' },
      run: object(
        {
          runId: uuid,
          facets: facets({
            parent: facet(
              {
                run: object({ runId: uuid }, ['runId']),
                job: object({ namespace: text, name: text }, ['namespace', 'name']),
              },
              ['run', 'job'],
            ),
            errorMessage: facet({ message: text, programmingLanguage: text }, ['message', 'programmingLanguage']),
          }),
        },
        ['runId'],
      ),
      job: object({ namespace: text, name: text }, ['namespace', 'name']),
      inputs: {
        type: 'array',
        items: object(
          {
            namespace: text,
            name: text,
            inputFacets: facets({ inputStatistics: facet({ rowCount: count, size: count, fileCount: count }, []) }),
          },
          ['namespace', 'name'],
        ),
      },
      outputs: {
        type: 'array',
        items: object(
          {
            namespace: text,
            name: text,
            facets: facets({
              dataQualityMetrics: facet(
                {
                  rowCount: count,
                  columnMetrics: {
                    type: 'object',
                    additionalProperties: object({ nullCount: count, distinctCount: count, count }, []),
                  },
                },
                ['columnMetrics'],
              ),
              schema: facet(
                { fields: { type: 'array', items: object({ name: text, type: text, description: text }, ['name']) } },
                [],
              ),
            }),
            outputFacets: facets({ outputStatistics: facet({ rowCount: count, size: count, fileCount: count }, []) }),
          },
          ['namespace', 'name'],
        ),
      },
    },
    ['eventTime', 'producer', 'schemaURL', 'run', 'job'],
  ),
};

const ajv = new Ajv2020({ allErrors: true });
addFormats.default(ajv);
const isRunEvent = ajv.compile(runEvent);

const account = {
  counts: { ...noCounts, read: 100, exported: 90, missing: 10 },
  rows: 90,
  fetched: 0,
  pending: 0,
  creditsLeft: null,
  unlisted: null,
  calls: 1,
  credits: 160,
  inputs: [{ name: 'ids.txt', entries: 100 }],
  files: [
    { path: 'csv/assets/part-00000.csv', format: 'csv', table: 'assets', part: 0, rows: 90, bytes: 900, sha256: '' },
    { path: 'raw/assets/part-00000.jsonl', format: 'raw', table: 'assets', part: 0, rows: 90, bytes: 100, sha256: '' },
    { path: 'unexported/part-00000.csv', format: 'csv', table: 'unexported', part: 0, rows: 10, bytes: 7, sha256: '' },
  ],
};

async function eventsOf(
  exit: number,
  environment: Readonly<Record<string, string>> = {},
  { quality, fields = {} }: { readonly quality?: RunEnd['quality']; readonly fields?: object } = {},
) {
  const file = join(await tempFolder(), 'lineage.ndjson');
  const { run } = followRun({ lineage: { url: `file:${file}` }, ...fields });
  const observer = lineageOf(run, lineageAddress(run, {}) ?? '', environment);
  const inputs = [{ name: 'ids.txt', bytes: 4500 }];
  observer.listener({ kind: 'opened', inputBytes: 4500, parts: 0, answers: 0, counts: noCounts, inputs });
  await observer.end({
    state: exit === 0 ? 'complete' : 'stopped',
    exit,
    error: exit === 0 ? undefined : 'it broke',
    account,
    quality,
  });
  const events = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, never>);
  for (const event of events) expect(isRunEvent(event), JSON.stringify(isRunEvent.errors)).toBe(true);
  return events;
}

it('a run is a START and a COMPLETE event, with what it read and wrote', async () => {
  const [start, complete] = await eventsOf(0);
  const job = { namespace: 'default', name: 'mine' };
  expect(start).toMatchObject({
    eventType: 'START',
    run: { runId },
    job,
    inputs: [{ name: 'ids.txt' }],
    outputs: [{ name: '/out/mine/assets' }],
  });
  expect(complete).toMatchObject({
    eventType: 'COMPLETE',
    run: { runId },
    job,
    inputs: [{ namespace: 'file', name: 'ids.txt', inputFacets: { inputStatistics: { rowCount: 100, size: 4500 } } }],
    outputs: [{ namespace: 'file', outputFacets: { outputStatistics: { rowCount: 90, size: 1000, fileCount: 2 } } }],
  });
  expect(
    (complete?.['outputs'] as unknown as { facets: { schema: { fields: object[] } } }[])[0]?.facets.schema.fields[0],
  ).toMatchObject({ name: 'id', type: 'string' });
});

it('names the limit of an export of the first ids', async () => {
  const facets = { tags: { tags: [{ key: 'limit', value: '20', source: 'asset-export' }] } };
  const fields = { ids: { from: ['/ids.txt'], limit: 20 } };
  expect(await eventsOf(0, {}, { fields })).toMatchObject([{ run: { facets } }, { run: { facets } }]);
  expect(JSON.stringify(await eventsOf(0))).not.toContain('TagsRunFacet');
});

it('tells what was counted in the tables of a complete export, and of no other', async () => {
  const columns = [
    { name: 'id', filled: 90, distinct: 90 },
    { name: 'creators', filled: 7, distinct: null },
  ];
  const quality = [{ name: 'assets', rows: 90, columns }];
  const [, complete] = await eventsOf(0, {}, { quality });
  const metrics = {
    rowCount: 90,
    columnMetrics: { id: { nullCount: 0, count: 90, distinctCount: 90 }, creators: { nullCount: 83, count: 7 } },
  };
  expect(complete).toMatchObject({ outputs: [{ facets: { dataQualityMetrics: metrics } }] });
  const [, failed] = await eventsOf(3, {}, { quality });
  expect(JSON.stringify(failed)).not.toContain('dataQualityMetrics');
});

it.each([
  [5, 'FAIL'],
  [3, 'FAIL'],
  [1, 'FAIL'],
  [exitCodes.overrun.code, 'FAIL'],
  [exitCodes.spent.code, 'ABORT'],
  [exitCodes.interrupted.code, 'ABORT'],
  [exitCodes.terminated.code, 'ABORT'],
])('a run that ends with %d is %s', async (exit, eventType) => {
  const [, end] = await eventsOf(exit);
  const facets = eventType === 'FAIL' ? { errorMessage: { message: 'it broke' } } : {};
  expect(end).toMatchObject({ eventType, run: { facets } });
});

it('names the run of the scheduler that started it', async () => {
  const parent = `airflow/prod/dag.task/${runId}`;
  const [start] = await eventsOf(0, { OPENLINEAGE_PARENT_ID: parent });
  expect(start).toMatchObject({
    run: { facets: { parent: { run: { runId }, job: { namespace: 'airflow/prod', name: 'dag.task' } } } },
  });
  const [plain] = await eventsOf(0, { OPENLINEAGE_PARENT_ID: 'nonsense' });
  expect(plain).toMatchObject({ run: { facets: {} } });
});

it.each([
  ['http://a.example', {}, 'http://a.example/api/v1/lineage'],
  ['http://a.example/own/path', {}, 'http://a.example/own/path'],
  [undefined, { OPENLINEAGE_URL: 'http://b.example/' }, 'http://b.example/api/v1/lineage'],
  ['http://a.example/x', { OPENLINEAGE_URL: 'http://b.example/' }, 'http://a.example/x'],
  [undefined, {}, undefined],
])('the address of %s with %j is %s', (url, environment, expected) => {
  const { run } = followRun(url === undefined ? {} : { lineage: { url } });
  expect(lineageAddress(run, environment)).toBe(expected);
});
