import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadServer } from './load-server.ts';
import { type Command, runMeasured, type Usage } from './measured-child.ts';
import type { Scenario } from './scenarios.ts';

/** Where a scenario finds what it needs. */
export interface Place {
  /** A folder for everything that is written. */
  readonly folder: string;
  readonly server: LoadServer;
  /** A file of so many ids, one a line. */
  readonly idFile: (count: number) => string;
  /** A file of so many records, one a line. */
  readonly recordFile: (count: number) => string;
}

export interface Run extends Usage {
  readonly calls: number;
  /** One for each thousand ids, of those that call. */
  readonly neededCalls: number;
}

const idsPerCall = 1000;
const callsAtOnce = 16;

/** Runs a scenario over so many ids. @throws when not all of them were exported. */
export async function runScenario(scenario: Scenario, count: number, place: Place): Promise<Run> {
  const { server } = place;
  const before = await server.calls();
  const { stdout, ...usage } = await runMeasured(commandOf(scenario, count, place), place.folder);
  requireAll(scenario, count, stdout);
  rmSync(outputOf(place), { recursive: true, force: true });
  return {
    ...usage,
    calls: (await server.calls()) - before,
    neededCalls: scenario.program === 'duckdb-copy.ts' ? 0 : Math.ceil(count / idsPerCall),
  };
}

/** What a run of a scenario writes: a folder or a file. */
function outputOf({ folder }: Pick<Place, 'folder'>): string {
  return join(folder, 'output');
}

/** How a scenario is started. */
function commandOf(scenario: Scenario, count: number, place: Place): Command {
  const { program, flags = [], threads = 1 } = scenario;
  const { url } = place.server;
  const output = outputOf(place);
  switch (program) {
    case 'bare-loop.mjs':
      return { program, args: [url, place.idFile(count), String(callsAtOnce)] };
    case 'duckdb-copy.ts':
      return { program, args: [place.recordFile(count), output] };
    case 'asset-export': {
      const where = ['--ids', place.idFile(count), '--url', url, '--out', output];
      const pace = ['--threads', String(threads), '--concurrency', String(callsAtOnce)];
      const quiet = ['--state-dir', join(place.folder, 'state'), '--log-level', 'warn', '--json'];
      return { program, args: ['run', ...where, ...pace, ...flags, ...quiet] };
    }
  }
}

/** @throws when a run says that it did not export all ids */
function requireAll({ name, program }: Scenario, count: number, stdout: string): void {
  const done = program === 'asset-export' ? exportedOf(stdout) : Number(stdout);
  if (done !== count) throw new Error(`${name}: ${done} of ${count} ids`);
}

function exportedOf(stdout: string): number {
  return (JSON.parse(stdout) as { exported: number }).exported;
}
