import type { Findings } from './measure-all.ts';
import { scenarioTable, splitTable, stageTable, targetTable } from './report-tables.ts';
import { shown } from './statistics.ts';

/** The whole of `bench/RESULTS.md`. */
export function reportText(findings: Findings, machine: readonly string[]): string {
  const { sizes } = findings;
  const count = (ids: number): string => ids.toLocaleString('en');
  return `# Speed and memory

Written by \`npm run bench\`.

${machine.join('\n')}

## Bounds

${targetTable(findings)}

## Whole runs

${scenarioTable(findings)}

- ${sizes.rounds === 1 ? 'Of 1 round' : `Medians of ${sizes.rounds} rounds`}, in which the programs take turns. A ratio is the median of ratios, each of two runs next to each other.
- CPU time is user and system time of the whole process, all threads included. Each program ran over ${count(sizes.few)} and over ${count(sizes.many)} ids. The time of an
  asset is the difference, without start-up. Two threads make parts of 20,000 ids, because a thread takes whole parts.
  Bounds on CPU time are for the larger runs with their start-up, as a user sees them.
- Real records are those of a file (\`--records\`), again and again with other ids. Without a file they are not measured.
- A night carries all rows of a run in its format. The time of a row is the difference of the two sizes.
- The bare loop fetches with undici (\`request\`, \`arrayBuffer\`), 16 calls in flight, and \`JSON.parse\`s; nothing else.
- Peak memory is that of the process. DuckDB runs from TypeScript source: the loader is in its memory and its start.
- The table of duplicates is the peak of reading ids with it, less that without.
- ${calmLine(findings)}

DuckDB runs on one thread, too. It reads the records from a local file and requests nothing. It infers the columns, and stops at a record that fits none.

## Where the CPU time goes

What an asset takes, split in three. The bare loop makes a string and a tree of objects of each answer, so it depends on how fast a machine gives and takes memory:
compare its page faults, pauses and system time before its ratio.

${splitTable(findings)}

## Stages

Each stage alone, on ${count(sizes.stageRecords)} records.

${stageTable(findings)}
`;
}

/** How much the machine's speed varied: the bare loop does the same work each time. */
function calmLine({ samples }: Findings): string {
  const times = samples.filter(({ name }) => name === 'bare loop').map(({ cpuUs }) => cpuUs);
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return `The bare loop does the same work each time. It took ${shown(least)} to ${shown(most)} µs per asset: so much did the machine's speed vary.`;
}
