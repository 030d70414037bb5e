import childProcess from 'node:child_process';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, expect } from 'vitest';
import { laneOf } from './lane.ts';

/** Set up before each test file: holds it to its lane, and measures what it costs. */

declare module 'vitest' {
  interface TaskMeta {
    /** CPU seconds of a test file and of the programs that it started and waited for. */
    cpuSeconds?: number;
  }
}

const names = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const;
const path = expect.getState().testPath ?? '';
const before = cpuSeconds();

if (laneOf(path) === 'fast') {
  const kept = names.map((name) => [name, childProcess[name]] as const);
  replace(names.map((name) => [name, refuse]));
  afterAll(() => {
    replace(kept);
  });
}
afterAll(({}, suite) => {
  suite.file.meta.cpuSeconds = cpuSeconds() - before;
});

function refuse(): never {
  throw new Error('A test of the fast lane starts no program: name its file *.whole.test.ts.');
}

function replace(functions: readonly (readonly [name: string, value: unknown])[]): void {
  Object.assign(childProcess, Object.fromEntries(functions));
  syncBuiltinESMExports();
}

/** Of this process and, on Linux, of its ended children: Node.js has no call for those. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

/** Fields 16 and 17 of `/proc/self/stat` (proc(5)), in ticks of 10 ms. */
function childSeconds(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
