import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeIds } from '../load/ids.ts';
import { writeRecords } from '../load/write-records.ts';
import type { StageFigure } from '../stages/stage.ts';
import { startLoadServer } from './load-server.ts';
import { type Growth, measureGrowth } from './measure-growth.ts';
import { measureReading, type ReadIds } from './measure-reading.ts';
import { measureScenarios, type Sample } from './measure-scenarios.ts';
import { runMeasured } from './measured-child.ts';
import type { Place } from './run-scenario.ts';
import { latencyMs } from './scenarios.ts';
import type { Sizes } from './sizes.ts';

/** Everything that was measured. */
export interface Findings {
  readonly sizes: Sizes;
  readonly samples: readonly Sample[];
  readonly reading: ReadIds;
  readonly growth: Growth;
  readonly stages: readonly StageFigure[];
}

/** Measures everything, one after another: nothing else should run on the machine. */
export async function measureAll(sizes: Sizes, folder: string, tell: (line: string) => void): Promise<Findings> {
  const { bodies } = sizes;
  tell('reading ids');
  const reading = await measureReading(sizes, folder);
  const servers = await Promise.all([
    startLoadServer({ latencyMs: 0, bodies }),
    startLoadServer({ latencyMs, bodies }),
  ]);
  try {
    const files = preparedFiles(folder, bodies);
    const near: Place = { folder, server: servers[0], ...files };
    const far: Place = { folder, server: servers[1], ...files };
    tell('stages');
    const stages = await measureStages(sizes, near);
    const samples = await measureScenarios(sizes, { near, far, tell });
    const growth = await measureGrowth(sizes, near, tell);
    return { sizes, samples, reading, growth, stages };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Files that several runs need are made once, before the first. */
function preparedFiles(folder: string, bodies: number): Pick<Place, 'idFile' | 'recordFile'> {
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
      made(`${count}.ndjson`, (path) => {
        writeRecords(path, count, bodies);
      }),
  };
}

async function measureStages(
  { rounds, stageRecords }: Sizes,
  { server, idFile, folder }: Place,
): Promise<StageFigure[]> {
  const args = [server.url, idFile(stageRecords), folder, String(rounds)];
  const { stdout } = await runMeasured({ program: 'stages.ts', args }, folder);
  return JSON.parse(stdout) as StageFigure[];
}
