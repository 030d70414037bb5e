import type { Findings } from './measure-all.ts';
import { scenarioTable, stageTable, targetTable } from './report-tables.ts';
import { shown } from './statistics.ts';

/** The whole of `bench/RESULTS.md`. */
export function reportText(findings: Findings, machine: readonly string[]): string {
  const { sizes } = findings;
  const count = (ids: number): string => ids.toLocaleString('en');
  return `# How fast it is

Written by \`npm run bench\`.

${machine.join('\n')}

## Against what is to be reached

${targetTable(findings)}

## Whole runs

${scenarioTable(findings)}

- Medians of ${sizes.rounds} rounds, in which the runs follow one another. A ratio is the median of ratios, each of two runs that stood close together.
- CPU time is user and system time of the whole process, all threads included. Each program ran over ${count(sizes.few)} and over ${count(sizes.many)} ids; an asset's time is the
  difference, so that no start is in it. Two threads make parts of 20,000 ids, as threads take whole parts.
  What is to be reached by CPU time is told of the larger runs, start and all, as whoever runs them sees it.
- The bare loop fetches with undici (\`request\`, \`arrayBuffer\`), 16 calls in flight, and \`JSON.parse\`s; nothing else.
- Peak memory is that of the process. DuckDB's is TypeScript that is read as it is: its loader is in it, and in its start.
- What duplicates take is the peak of reading ids with their removal, less that without.
- ${calmLine(findings)}

DuckDB, on one thread too, reads the records from a local file: it fetches nothing, keeps no unknown field and stops at what fits no column.

## Stages

Each alone, on ${count(sizes.stageRecords)} records, again and again.

${stageTable(findings)}
`;
}

/** How far the machine's speed wandered: the bare loop does the same each time. */
function calmLine({ samples }: Findings): string {
  const times = samples.filter(({ name }) => name === 'bare loop').map(({ cpuUs }) => cpuUs);
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return `The bare loop does the same each time: it took ${shown(least)} to ${shown(most)} µs an asset, and the machine was as calm as that.`;
}
