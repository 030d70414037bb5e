import type { Findings } from './measure-all.ts';
import { type Figure, medianOf, ratioOf } from './measure-scenarios.ts';
import { onReal, scenarios } from './scenarios.ts';
import { shown } from './statistics.ts';
import { targets, verdict } from './targets.ts';

/** A Markdown table whose first row is its head; numbers stand on the right. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const rightAligned = head.map((_, column) => rest.every((row) => /^-?[\d–]/.test(row[column] ?? '')));
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = line(rightAligned.map((right) => (right ? '--:' : '---')));
  return [line(head), rule, ...rest.map(line)].join('\n');
}

export function targetTable(findings: Findings): string {
  const rows = targets.map((target) => {
    const measured = target.measured(findings);
    const note = Number.isNaN(measured) ? undefined : target.also?.(findings);
    return [target.what, target.reach, shown(measured), verdict(target, measured), note ?? ''];
  });
  return tableText([['what', 'bound', 'measured', '', 'note'], ...rows]);
}

export function scenarioTable({ samples }: Findings): string {
  const run = scenarios.filter(({ name }) => samples.some((sample) => sample.name === name));
  const rows = run.map(({ name, real = false }) => [
    name,
    shown(medianOf(samples, name, 'cpuUs')),
    shown(ratioOf(samples, { of: name, beside: real ? onReal('bare loop') : 'bare loop' }, 'cpuUs')),
    Math.round(1e6 / medianOf(samples, name, 'wallUs')).toLocaleString('en'),
    shown(medianOf(samples, name, 'startCpuS')),
    shown(medianOf(samples, name, 'wholeCpuS')),
    shown(medianOf(samples, name, 'peakMiB') * 1.048576),
  ]);
  const head = [
    'run',
    'CPU µs per asset',
    'speed of the bare loop',
    'assets/s by the clock',
    'start, CPU s',
    'whole, CPU s',
    'peak MB',
  ];
  return tableText([head, ...rows]);
}

const ofThePage = ['CSV', 'JSONL', 'Parquet', 'CSV, all tables', 'JSONL, all tables', 'CSV, 2 threads', 'bare loop'];

/** The runs that a user chooses among: the table of docs/performance.md. */
export function choiceTable({ samples }: Findings): string {
  const rows = ofThePage.map((name) => [
    name,
    shown(medianOf(samples, name, 'cpuUs')),
    Math.round(1e6 / medianOf(samples, name, 'wallUs')).toLocaleString('en'),
    shown(medianOf(samples, name, 'peakMiB') * 1.048576),
  ]);
  return tableText([['export', 'CPU µs an asset', 'assets a second', 'peak MB'], ...rows]);
}

/** Where the CPU time of an asset goes: what differs between machines. */
export function splitTable({ samples }: Findings): string {
  const names = ['bare loop', 'CSV', 'JSONL', 'Parquet'].flatMap((name) => [name, onReal(name)]);
  const rows = names
    .filter((name) => samples.some((sample) => sample.name === name))
    .map((name) => {
      const of = (figure: Figure): number => medianOf(samples, name, figure);
      const own = of('cpuUs') - of('systemUs') - of('gcUs');
      return [name, ...[own, of('gcUs'), of('systemUs')].map(shown), shown(1000 * of('faults'))];
    });
  return tableText([['run', 'program, µs', 'pauses for garbage, µs', 'system, µs', 'page faults per 1,000'], ...rows]);
}

/** Milliseconds per 1,000 assets in each stage, and as a share of the bare loop. */
export function stageTable(findings: Findings): string {
  const cpuUs = findings.reading.cpuUs.get('lines, check, duplicates') ?? Number.NaN;
  const ofCsv = [
    { name: 'read ids, remove duplicates', cpuUs },
    ...findings.stages.filter(({ kind }) => kind === 'csv'),
  ];
  const sum = ofCsv.reduce((all, stage) => all + stage.cpuUs, 0);
  const whole = medianOf(findings.samples, 'CSV', 'cpuUs');
  const added = [
    { name: '**all of these**', cpuUs: sum },
    { name: 'a whole CSV export', cpuUs: whole },
  ];
  const more = findings.stages.filter(({ kind }) => kind === 'more');
  return figureTable(findings, [...ofCsv, ...added, ...more]);
}

function figureTable({ samples }: Findings, figures: readonly { name: string; cpuUs: number }[]): string {
  const bare = medianOf(samples, 'bare loop', 'cpuUs');
  const rows = figures.map(({ name, cpuUs }) => [name, shown(cpuUs), `${Math.round((cpuUs / bare) * 100)} %`]);
  return tableText([['stage', 'CPU ms per 1,000 assets', 'of the bare loop'], ...rows]);
}
