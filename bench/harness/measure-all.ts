import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeIds } from '../load/ids.ts';
import { writeRecords } from '../load/write-records.ts';
import { type Records, recordsOf } from '../load/records.ts';
import type { StageFigure } from '../stages/stage.ts';
import { type LoadServer, startLoadServer } from './load-server.ts';
import { type Growth, measureGrowth } from './measure-growth.ts';
import { measureNights, type Night } from './measure-nights.ts';
import { measureReading, type ReadIds } from './measure-reading.ts';
import { measureScenarios, type Sample } from './measure-scenarios.ts';
import { runMeasured } from './measured-child.ts';
import { type Place, runScenario } from './run-scenario.ts';
import { latencyMs, scenarioOf } from './scenarios.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

/** Everything that was measured. */
export interface Findings {
  readonly sizes: Sizes;
  readonly samples: readonly Sample[];
  readonly reading: ReadIds;
  readonly growth: Growth;
  readonly stages: readonly StageFigure[];
  /** With the records of `--records`; empty without. */
  readonly realStages: readonly StageFigure[];
  readonly nights: ReadonlyMap<string, Night>;
  /** CPU time in seconds of a run as CSV of few ids: the median of all rounds, after one that does not count. */
  readonly startCpuS: number;
}

export interface Bench {
  readonly sizes: Sizes;
  /** For everything that is made. */
  readonly folder: string;
  /** A file of records, one a line; empty for none. */
  readonly records: string;
  readonly tell: (line: string) => void;
}

/** Measures everything, one after another: nothing else should run on the machine. */
export async function measureAll({ sizes, folder, records, tell }: Bench): Promise<Findings> {
  const { bodies } = sizes;
  tell('reading ids');
  const reading = await measureReading(sizes, folder);
  const servers: LoadServer[] = [];
  const placeAt = async (latency: number, file: string): Promise<Place> => {
    const server = await startLoadServer({ latencyMs: latency, bodies, records: file });
    servers.push(server);
    return { folder, server, ...preparedFiles(folder, { bodies, records: recordsOf(file), real: file !== '' }) };
  };
  try {
    const near = await placeAt(0, '');
    const far = await placeAt(latencyMs, '');
    const real = records === '' ? undefined : await placeAt(0, records);
    tell('stages');
    const stages = await measureStages(sizes, near);
    const realStages = real === undefined ? [] : await measureStages(sizes, real);
    const startCpuS = await measureStart(sizes, near);
    const samples = await measureScenarios(sizes, { near, far, real, tell });
    const nights = await measureNights(sizes, near, tell);
    const growth = await measureGrowth(sizes, near, tell);
    return { sizes, samples, reading, growth, stages, realStages, nights, startCpuS };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Files that several runs need are made once, before the first. */
function preparedFiles(
  folder: string,
  { bodies, records, real }: { readonly bodies: number; readonly records: Records; readonly real: boolean },
): Pick<Place, 'idFile' | 'recordFile'> {
  const made = (name: string, write: (path: string) => void): string => {
    const path = join(folder, name);
    if (!existsSync(path)) write(path);
    return path;
  };
  return {
    idFile: (count) =>
      made(`${count}.txt`, (path) => {
        writeIds(path, count);
      }),
    recordFile: (count) =>
      made(`${count}${real ? '-real' : ''}.ndjson`, (path) => {
        writeRecords(path, count, { bodies, records });
      }),
  };
}

async function measureStart({ started, rounds }: Sizes, place: Place): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round <= rounds; round += 1)
    taken.push((await runScenario(scenarioOf('CSV'), started, place)).cpuS);
  return median(taken.slice(1));
}

async function measureStages(
  { rounds, stageRecords }: Sizes,
  { server, idFile, folder }: Place,
): Promise<StageFigure[]> {
  const args = [server.url, idFile(stageRecords), folder, String(rounds)];
  const { stdout } = await runMeasured({ program: 'stages.ts', args }, folder);
  return JSON.parse(stdout) as StageFigure[];
}
