import { expect, onTestFinished } from 'vitest';
import { type ProgramOptions, type ProgramRun, startProgram } from '../../support/run-program.ts';
import { startStopwatch } from '../../support/stopwatch.ts';

/** The time of grace of the programs of these tests, in milliseconds, and what they may take beyond it. */
export const graceMs = 500;
const beyondMs = 2000;

/** A program that is told to end when something has happened. */
export interface Stopping {
  readonly args: readonly string[];
  readonly options: ProgramOptions;
  /** Resolves when it is to be told. */
  readonly when: () => Promise<unknown>;
}

/** Tells a program to end with SIGTERM, and sees that it does in time, and prints no stack. */
export async function stopped({ args, options, when }: Stopping): Promise<ProgramRun> {
  const { child, ended } = startProgram(args, options);
  onTestFinished(() => void child.kill('SIGKILL'));
  const early = await Promise.race([when().then(() => undefined), ended]);
  expect(early, 'it ended before it was told to').toBeUndefined();
  const ms = startStopwatch(child.pid ?? 0);
  child.kill('SIGTERM');
  const run = await ended;
  const tookMs = ms();
  expect({ tookMs, stderr: run.stderr, inTime: tookMs <= graceMs + beyondMs }).toMatchObject({ inTime: true });
  expect(run.stderr).not.toContain('    at ');
  return run;
}

/** Something that happens once. */
export function newEvent(): { readonly happened: Promise<void>; readonly happen: () => void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => (happen = resolve));
  return {
    happened,
    happen: () => {
      happen();
    },
  };
}
