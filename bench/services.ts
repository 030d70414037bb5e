/**
 * Runs exports with default flags against services of several kinds, and prints what each brought. With 64 calls at once beside it, where the
 * service takes all: what one core can do.
 *
 *     npm run bench:services
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRunLines } from '../src/core/run/history/run-lines.ts';
import { lastRunOf } from '../src/core/run/history/run-history.ts';
import { exportPaths } from '../src/places/export/export-folder.ts';
import { startLoadServer } from './harness/load-server.ts';
import { runMeasured } from './harness/measured-child.ts';
import { writeIds } from './load/ids.ts';

interface Kind {
  readonly name: string;
  readonly latencyMs: number;
  readonly limits?: readonly string[];
  readonly ids: number;
  readonly flags?: readonly string[];
}

const thousands = { ids: 120_000, flags: ['--threads', '1'] };
const small = ['--ids-per-call', '20', '--format', 'csv'];
const kinds: readonly Kind[] = [20, 500, 1500].flatMap((latencyMs) => [
  { name: `${latencyMs} ms, takes all`, latencyMs, ...thousands },
  {
    name: `the same, --concurrency 64`,
    latencyMs,
    ids: thousands.ids,
    flags: ['--threads', '1', '--concurrency', '64'],
  },
]);
const others: readonly Kind[] = [
  { name: '30 calls a second, a queue', latencyMs: 500, limits: ['--workers', '15'], ids: 24_000, flags: small },
  { name: 'refuses more than 4 at once', latencyMs: 200, limits: ['--most', '4'], ids: 16_000, flags: small },
  {
    name: '250 calls a second, two threads',
    latencyMs: 100,
    limits: ['--workers', '25'],
    ids: 400_000,
    flags: ['--threads', '2'],
  },
];

const folder = mkdtempSync(join(tmpdir(), 'asset-export-services-'));
try {
  console.log('service | s | CPU s | MiB | answers/s after 10 s | mean latency, ms | refused after 10 s | at once');
  for (const kind of [...kinds, ...others]) console.log(await measured(kind));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measured({ name, latencyMs, limits = [], ids, flags = [] }: Kind): Promise<string> {
  const server = await startLoadServer({ latencyMs, bodies: 20, records: '', limits });
  const [list, out] = [join(folder, 'ids.txt'), join(folder, 'out')];
  writeIds(list, ids);
  const where = ['--ids', list, '--url', server.url, '--out', out, '--state-dir', join(folder, 'state')];
  const { wallS, cpuS, peakMiB } = await runMeasured(
    { program: 'asset-export', args: ['run', ...where, ...flags] },
    folder,
  );
  const run = lastRunOf(parseRunLines(readFileSync(join(out, exportPaths.keptRunLines), 'utf8')));
  const late = run?.spans.filter(({ t }) => t >= 10_000) ?? [];
  const sum = (of: (span: (typeof late)[number]) => number): number =>
    late.reduce((total, span) => total + of(span), 0);
  const [answered, sent] = [sum((span) => span.answered), sum((span) => span.sent)];
  rmSync(out, { recursive: true });
  await server.stop();
  const figures = [
    wallS.toFixed(1),
    cpuS.toFixed(1),
    peakMiB.toFixed(0),
    answered === 0 ? '–' : (answered / (sum((span) => span.ms) / 1000)).toFixed(1),
    answered === 0 ? '–' : (sum((span) => span.tookMs ?? 0) / answered).toFixed(0),
    sent === 0 ? '–' : `${((100 * Math.max(0, sent - answered)) / sent).toFixed(1)} %`,
    run?.work.callsAtOnce ?? '–',
  ];
  return [name, ...figures].join(' | ');
}
