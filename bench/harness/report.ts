import type { Findings } from './findings.ts';
import { medianOf, sumOf } from './measure-scenarios.ts';
import { insteadTable, pairTable, readingTable, scenarioTable, stageTable, targetTable } from './report-tables.ts';
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
- CPU time is user and system time of the whole process, all threads included. Each program ran over ${count(sizes.few)} and over ${count(sizes.many)} ids
  (with small parts, of ${count(sizes.idsPerPart)}: ${count(sizes.fewInSmallParts)} and ${count(sizes.manyInSmallParts)}); an asset's time is the difference, so that no start is in it.
  What is to be reached by CPU time is told of the larger runs, start and all, as whoever runs them sees it.
- The bare loop fetches with undici (\`request\`, \`arrayBuffer\`), 16 calls in flight, and \`JSON.parse\`s; nothing else.
- The script fetches one call after another with \`fetch\`, \`JSON.parse\`s, and appends the records to a file.
- Peak memory is that of the process. DuckDB's is TypeScript that is read as it is: its loader is in it, and in its start.
- Memory with few ids and with many is that of medians: of ${sizes.smallExports} exports and of ${sizes.largeExports}; what duplicates take, of ${sizes.dedupeReadings} readings with and without.
- ${serverLine(findings)}
- ${calmLine(findings)}

${pairTable(findings)}

DuckDB, on one thread too, reads the records from a local file: it fetches nothing, keeps no unknown field and stops at what fits no column.

## Stages

Each alone, on ${count(sizes.stageRecords)} records, again and again.

${stageTable(findings)}

What might stand in their place, or is thought to cost nothing:

${insteadTable(findings)}

## Reading ids

${readingTable(findings)}

## Many ids

${growthLines(findings).join('\n')}
`;
}

/** How far the machine's speed wandered: the bare loop does the same each time. */
function calmLine({ samples }: Findings): string {
  const times = samples.filter(({ name }) => name === 'bare loop').map(({ cpuUs }) => cpuUs);
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return `The bare loop does the same each time: it took ${shown(least)} to ${shown(most)} µs an asset, and the machine was as calm as that.`;
}

function serverLine({ samples }: Findings): string {
  const exported = samples.filter(({ name }) => name === 'CSV');
  const share = sumOf(exported, 'serverCpuUs') / sumOf(exported, 'cpuUs');
  return (
    `The load server, a process of its own, took ${shown(medianOf(exported, 'CSV', 'serverCpuUs'))} µs of CPU time an asset, ` +
    `${Math.round(share * 100)} % of what the CSV export took: its answers are prepared, and only ids are written into them.`
  );
}

function growthLines({ growth }: Findings): string[] {
  const { again, to } = growth;
  const ids = to.toLocaleString('en');
  if (again === undefined) return [`- The largest export had ${ids} ids; \`npm run bench -- --long\` takes 5,000,000.`];
  const { wasKilled, files, different, calls, needed, callsAtOnce } = again;
  const disturbed = wasKilled
    ? 'killed with SIGKILL when two calls in five were answered, and run again'
    : 'not killed in time';
  return [
    `- ${ids} ids were exported as CSV twice: at one go with one thread and 16 calls at once, then with two threads and ` +
      `${callsAtOnce} calls at once, ${disturbed}.`,
    `- ${files - different.length} of ${files} files are the same byte for byte${different.length === 0 ? '' : `; not ${different.join(', ')}`}.`,
    `- The killed export and its second run sent ${calls.toLocaleString('en')} calls; an undisturbed one sends ${needed.toLocaleString('en')}.`,
  ];
}
