import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, describe, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { tempFolder } from '../support/temp-folder.ts';

const folder = fileURLToPath(new URL('../../docs/observability/', import.meta.url));
const rulesFile = join(folder, 'rules.yml');

/** Prometheus' own reader, of Debian's package `prometheus`. */
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

function promtool(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

interface Case {
  readonly alert: string;
  readonly minutes: number;
  /** Values each minute, in Prometheus' short form. */
  readonly series: Readonly<Record<string, string>>;
  readonly fires: boolean;
}

/** In these tests the clock of Prometheus begins at 0. */
const cases: readonly Case[] = [
  {
    alert: 'AssetExportStuck',
    minutes: 20,
    series: { last_progress_timestamp_seconds: '0x20', paused_until_timestamp_seconds: '0x20' },
    fires: true,
  },
  {
    alert: 'AssetExportStuck',
    minutes: 20,
    series: { last_progress_timestamp_seconds: '0x20', paused_until_timestamp_seconds: '3600x20' },
    fires: false,
  },
  { alert: 'AssetExportFailed', minutes: 1, series: { last_run_exit_code: '5x1' }, fires: true },
  { alert: 'AssetExportFailed', minutes: 1, series: { last_run_exit_code: '8x1' }, fires: false },
  { alert: 'AssetExportStale', minutes: 27 * 60, series: { last_success_timestamp_seconds: '0x1620' }, fires: true },
  { alert: 'AssetExportStale', minutes: 25 * 60, series: { last_success_timestamp_seconds: '0x1500' }, fires: false },
  { alert: 'AssetExportUnlisted', minutes: 1, series: { rows: '900x1', unlisted: '100x1' }, fires: true },
  { alert: 'AssetExportUnlisted', minutes: 1, series: { rows: '990x1', unlisted: '10x1' }, fires: false },
  {
    alert: 'AssetExportCreditsLow',
    minutes: 70,
    series: { credits_remaining: '10000-100x70', credits_total: '0+100x70' },
    fires: true,
  },
  {
    alert: 'AssetExportCreditsLow',
    minutes: 70,
    series: { credits_remaining: '90000-100x70', credits_total: '0+100x70' },
    fires: false,
  },
];

/** `promtool test rules` fails unless the alert fires just where the case says. */
function testFile({ alert, minutes, series, fires }: Case): object {
  const labels = { export: 'nightly', instance: 'host:9464', job: 'asset-export' };
  const names = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  const condition = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  return {
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({
          series: `asset_export_${name}{${names.join()}}`,
          values,
        })),
        promql_expr_test: [
          { expr: condition, eval_time: `${minutes}m`, exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }] },
        ],
      },
    ],
  };
}

describe.runIf(hasPromtool)('promtool (skipped where the package prometheus is not installed)', () => {
  // Promise, In operation: Prometheus accepts the rules, and each alert fires when it should
  it('accepts the rules', () => {
    expect(promtool('check', 'rules', rulesFile)).toMatchObject({ status: 0 });
  });

  it.each(cases)('sees $alert after $minutes minutes of $series: $fires', async (each) => {
    const file = join(await tempFolder(), 'test.yml');
    writeFileSync(file, stringify(testFile(each)));
    const { status, output } = promtool('test', 'rules', file);
    expect(status, output).toBe(0);
  });

  it('accepts every expression of the dashboard', async () => {
    const { panels } = z
      .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })
      .parse(JSON.parse(readFileSync(join(folder, 'dashboard.json'), 'utf8')));
    const rules = panels
      .flatMap(({ targets }) => targets)
      .map(({ expr }, index) => ({ record: `panel:${index}`, expr: expr.replaceAll('$export', '.*') }));
    const file = join(await tempFolder(), 'dashboard.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
    const { status, output } = promtool('check', 'rules', file);
    expect(status, output).toBe(0);
  });
});
