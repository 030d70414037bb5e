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
  const output = join(place.folder, 'output');
  const before = await server.calls();
  const usage = await runTo(output, { scenario, count, place });
  remove(output);
  return {
    ...usage,
    calls: (await server.calls()) - before,
    neededCalls: scenario.program === 'duckdb-copy.ts' ? 0 : Math.ceil(count / idsPerCall),
  };
}

/** What the first of several nights took, and what a second took that carries all of its rows. */
export async function runNight(
  scenario: Scenario,
  count: number,
  place: Place,
): Promise<{ readonly run: Usage; readonly night: Usage }> {
  const [base, output] = [join(place.folder, 'base'), join(place.folder, 'night')];
  const on = (flags: readonly string[]): Asked => {
    return { scenario: { ...scenario, flags: [...(scenario.flags ?? []), '--base', ...flags] }, count, place };
  };
  const run = await runTo(base, on(['none']));
  const night = await runTo(output, on([base, '--max-age', 'never']));
  remove(base);
  remove(output);
  return { run, night };
}

interface Asked {
  readonly scenario: Scenario;
  readonly count: number;
  readonly place: Place;
}

async function runTo(output: string, { scenario, count, place }: Asked): Promise<Usage> {
  const { stdout, ...usage } = await runMeasured(commandOf(output, { scenario, count, place }), place.folder);
  requireAll(scenario, count, stdout);
  return usage;
}

/** What a run of a scenario writes: a folder or a file. */
function remove(output: string): void {
  rmSync(output, { recursive: true, force: true });
}

/** How a scenario is started. */
function commandOf(output: string, { scenario, count, place }: Asked): Command {
  const { program, flags = [], threads = 1 } = scenario;
  const { url } = place.server;
  switch (program) {
    case 'bare-loop.mjs':
      return { program, args: [url, place.idFile(count), String(callsAtOnce)] };
    case 'duckdb-copy.ts':
      return { program, args: [place.recordFile(count), output, ...flags] };
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

/** The rows of the tables: requested and carried ones. */
function exportedOf(stdout: string): number {
  const { exported, carried } = JSON.parse(stdout) as { exported: number; carried: number };
  return exported + carried;
}
