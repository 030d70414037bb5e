import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { failureReasons } from '../../../src/core/client/asset-client.ts';
import { RunMetrics } from '../../../src/wings/observe/run-metrics.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import type { RunEvent } from '../../../src/core/work/run-events.ts';
import { noonMs, followRun } from './follow-run.ts';

/** Section by section what the docs promise: name, type, labels besides `export`. */
const families: readonly (readonly [string, string, string?])[] = [
  ['asset_export_build_info', 'gauge', 'version'],
  ['asset_export_entries', 'gauge', 'fate'],
  ['asset_export_entries_expected', 'gauge'],
  ['asset_export_parts_committed', 'gauge'],
  ['asset_export_calls_in_flight', 'gauge'],
  ['asset_export_calls_total', 'counter', 'outcome'],
  ['asset_export_retries_total', 'counter', 'reason'],
  ['asset_export_service_state', 'gauge', 'state'],
  ['asset_export_call_duration_seconds', 'histogram', 'le'],
  ['asset_export_received_bytes_total', 'counter'],
  ['asset_export_credits_total', 'counter'],
  ['asset_export_rows', 'gauge'],
  ['asset_export_fetched_ids', 'gauge'],
  ['asset_export_credits_remaining', 'gauge'],
  ['asset_export_paused_until_timestamp_seconds', 'gauge'],
  ['asset_export_last_progress_timestamp_seconds', 'gauge'],
  ['asset_export_last_run_start_timestamp_seconds', 'gauge'],
  ['asset_export_last_run_end_timestamp_seconds', 'gauge'],
  ['asset_export_last_success_timestamp_seconds', 'gauge'],
  ['asset_export_last_run_exit_code', 'gauge'],
  ['process_cpu_seconds_total', 'counter'],
  ['process_resident_memory_bytes', 'gauge'],
];

/** The values of the text format, by name and labels without `export`, which each must have. */
function valuesOf(text: string): Map<string, number> {
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name = '', labels = '', value = ''] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
        expect(labels, line).toMatch(/(^|,)export="mine"$/);
        return [`${name}{${labels.replace(/,?export="mine"$/, '')}}`, Number(value)];
      }),
  );
}

const commit = { part: 0, counts: noCounts, files: [], drift: [], notes: noNotes, inputBytes: 1 };

const events: readonly RunEvent[] = [
  { kind: 'opened', inputBytes: 4000, parts: 1, answers: 0, counts: { ...noCounts, read: 100, exported: 100 } },
  { kind: 'read', entries: 400, inputBytes: 2000 },
  ...Array.from({ length: 4 }, () => ({ kind: 'sent', ids: 100 }) as const),
  { kind: 'answered', ids: 100, bytes: 5000, ms: 700 },
  { kind: 'settled', counts: { ...noCounts, read: 110, exported: 90, missing: 10, invalid: 6, duplicate: 4 } },
  { kind: 'failed', why: 'http_429' },
  { kind: 'retry', reason: 'HTTP 429', why: 'http_429', waitMs: 0, attempt: 1 },
  { kind: 'committed', commit },
  { kind: 'paused', untilMs: noonMs + 60_000, reason: 'HTTP 429', concurrency: 2 },
  { kind: 'service', state: 'slowed', message: 'the service takes about 2 calls at once' },
];

function metricsAfter(fields: Readonly<Record<string, unknown>> = {}) {
  const { run, clock } = followRun({ budget: { creditsPerDay: 1600 }, ...fields });
  const metrics = new RunMetrics(run, 160);
  clock.ms += 10_000;
  for (const event of events) metrics.listener(event);
  return { metrics, clock };
}

describe('the metrics of a run', () => {
  it('have the promised names, types, units and labels, and no others', async () => {
    const { metrics } = metricsAfter();
    metrics.end({ state: 'complete', exit: 0 });
    const text = await metrics.text();
    const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]);
    expect(types.sort()).toEqual(families.map(([name, type]) => [name, type]).sort());
    for (const [name, type] of types) {
      expect(text).toMatch(new RegExp(`^# HELP ${name ?? ''} [A-Z].*\\.$`, 'm'));
      if (type === 'counter') expect(name).toMatch(/_total$/);
      else expect(name).not.toMatch(/_total$/);
    }
    for (const [key] of valuesOf(text)) {
      const [, name = '', labels = ''] = /^(\w+)\{(.*)\}$/.exec(key) ?? [];
      const family = families.find(([each]) => each === name || name.replace(/_(bucket|sum|count)$/, '') === each);
      const label = /_(sum|count)$/.test(name) ? '' : (family?.[2] ?? '');
      expect(labels.replace(/=".*"$/, ''), key).toBe(label);
    }
  });

  it('are summed from the events', async () => {
    const { metrics, clock } = metricsAfter();
    const values = valuesOf(await metrics.text());
    const expected: Readonly<Record<string, number>> = {
      'asset_export_build_info{version="1.2.3"}': 1,
      'asset_export_entries{fate="exported"}': 190,
      'asset_export_entries{fate="missing"}': 10,
      'asset_export_entries{fate="invalid"}': 6,
      'asset_export_entries{fate="duplicate"}': 4,
      'asset_export_entries{fate="failed"}': 0,
      'asset_export_entries{fate="pending"}': 190,
      'asset_export_entries_expected{}': 800,
      'asset_export_parts_committed{}': 2,
      'asset_export_calls_in_flight{}': 2,
      'asset_export_calls_total{outcome="answered"}': 1,
      'asset_export_calls_total{outcome="failed"}': 1,
      'asset_export_retries_total{reason="http_429"}': 1,
      'asset_export_service_state{state="working"}': 0,
      'asset_export_service_state{state="slowed"}': 1,
      'asset_export_call_duration_seconds_bucket{le="0.5"}': 0,
      'asset_export_call_duration_seconds_bucket{le="1"}': 1,
      'asset_export_call_duration_seconds_sum{}': 0.7,
      'asset_export_received_bytes_total{}': 5000,
      'asset_export_credits_total{}': 640,
      'asset_export_credits_remaining{}': 800,
      'asset_export_paused_until_timestamp_seconds{}': noonMs / 1000 + 60,
      'asset_export_last_progress_timestamp_seconds{}': noonMs / 1000 + 10,
      'asset_export_last_run_start_timestamp_seconds{}': noonMs / 1000,
    };
    for (const [name, value] of Object.entries(expected)) expect(values.get(name), name).toBe(value);
    for (const reason of failureReasons)
      expect(values.has(`asset_export_retries_total{reason="${reason}"}`)).toBe(true);
    for (const absent of ['last_run_exit_code', 'last_run_end_timestamp_seconds', 'last_success_timestamp_seconds'])
      expect(values.has(`asset_export_${absent}{}`)).toBe(false);
    clock.ms += 60_000;
    expect(valuesOf(await metrics.text()).get('asset_export_paused_until_timestamp_seconds{}')).toBe(0);
  });

  it('say how the run ended, and keep the last success of an earlier one', async () => {
    const { metrics } = metricsAfter();
    metrics.keepSuccess(1000);
    const counts = { ...noCounts, read: 300, exported: 100 };
    metrics.end({
      state: 'stopped',
      exit: 5,
      account: {
        counts,
        rows: 90,
        fetched: 60,
        pending: 200,
        creditsLeft: 1234,
        unlisted: 7,
        files: [],
        inputs: [],
        calls: 4,
        credits: 640,
      },
    });
    const values = valuesOf(await metrics.text());
    expect(values.get('asset_export_last_run_exit_code{}')).toBe(5);
    expect(values.get('asset_export_last_success_timestamp_seconds{}')).toBe(1000);
    expect(values.get('asset_export_entries{fate="pending"}')).toBe(200);
    expect(values.get('asset_export_rows{}')).toBe(90);
    expect(values.get('asset_export_fetched_ids{}')).toBe(60);
    expect(values.get('asset_export_credits_remaining{}'), 'of the ledger that counts').toBe(1234);
    expect(values.get('asset_export_unlisted{}')).toBe(7);
    expect(values.get('asset_export_calls_in_flight{}')).toBe(0);
    expect(values.get('asset_export_service_state{state="slowed"}'), 'no process runs').toBe(0);
    metrics.end({ state: 'complete', exit: 0 });
    expect(valuesOf(await metrics.text()).get('asset_export_last_success_timestamp_seconds{}')).toBe(
      noonMs / 1000 + 10,
    );
  });

  it('have no credits left without a limit, and the name that the job gives', async () => {
    const text = await metricsAfter({ budget: {}, metrics: { name: 'nightly' } }).metrics.text();
    expect(text).not.toContain('credits_remaining');
    expect(text).toContain('asset_export_entries{fate="exported",export="nightly"} 190');
  });

  it('are healthy until nothing happened for 15 minutes, unless calls are paused', () => {
    const { metrics, clock } = metricsAfter();
    clock.ms += 15 * 60_000 - 1;
    expect(metrics.isHealthy()).toBe(true);
    clock.ms += 1;
    expect(metrics.isHealthy()).toBe(false);
    metrics.listener({ kind: 'waiting', untilMs: clock.ms + 1000, reason: 'spent' });
    expect(metrics.isHealthy()).toBe(true);
    clock.ms += 1000;
    expect(metrics.isHealthy()).toBe(false);
    metrics.listener({ kind: 'settled', counts: noCounts });
    expect(metrics.isHealthy()).toBe(true);
  });
});

const folder = new URL('../../../docs/observability/', import.meta.url);
/** Of some exports alone. */
const others = ['asset_export_unlisted', 'asset_export_limit_ids'];
const series = new Set([
  ...others,
  ...families.flatMap(([name, type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  ),
]);
const labels = new Set(['export', 'instance', ...families.flatMap(([, , label]) => label ?? [])]);

describe('the shipped dashboard and rules', () => {
  const dashboard = z
    .looseObject({
      panels: z.array(
        z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })).min(1) }),
      ),
    })
    .parse(JSON.parse(readFileSync(new URL('dashboard.json', folder), 'utf8')));
  const rules = z
    .object({ groups: z.array(z.object({ rules: z.array(z.looseObject({ alert: z.string(), expr: z.string() })) })) })
    .loose()
    .parse(parse(readFileSync(new URL('rules.yml', folder), 'utf8')))
    .groups.flatMap((group) => group.rules);
  const expressions = [
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ];

  it('are thirteen panels and five alerts', () => {
    expect(dashboard.panels).toHaveLength(13);
    expect(rules.map(({ alert }) => alert)).toEqual([
      'AssetExportStuck',
      'AssetExportFailed',
      'AssetExportStale',
      'AssetExportUnlisted',
      'AssetExportCreditsLow',
    ]);
  });

  it.each(expressions)('%s is PromQL over metrics and labels that there are: %s', (_, expression) => {
    const seen = { metrics: [] as string[], labels: [] as string[] };
    parser.parse(expression).iterate({
      enter: ({ name, type, from, to }) => {
        expect(type.isError, `${expression} at ${from}`).toBe(false);
        const text = expression.slice(from, to);
        if (name === 'Identifier' && /^[a-z_]+$/.test(text)) seen.metrics.push(text);
        if (name === 'LabelName') seen.labels.push(text);
      },
    });
    expect(seen.metrics).not.toEqual([]);
    expect(seen.metrics.filter((name) => !series.has(name))).toEqual([]);
    expect(seen.labels.filter((name) => !labels.has(name))).toEqual([]);
  });
});

it('the limit of an export of the first ids is a metric', async () => {
  const { run } = followRun({ ids: { from: ['/ids.txt'], limit: 20 } });
  expect(await new RunMetrics(run, 0).text()).toContain('asset_export_limit_ids{export="mine"} 20');
});

it('every metric of a worker names it', async () => {
  const { run } = followRun({});
  const text = await new RunMetrics({ ...run, worker: '3' }, 0).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !line.includes('worker="3"'))).toEqual([]);
  expect(await new RunMetrics(run, 0).text()).not.toContain('worker');
});
