import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a process took from its start to its end, all threads included. */
export interface Usage {
  /** User and system time. */
  readonly cpuS: number;
  readonly systemS: number;
  /** Pauses of the main thread for garbage. */
  readonly gcS: number;
  /** Pages of memory that it touched for the first time. */
  readonly faults: number;
  readonly wallS: number;
  readonly peakMiB: number;
}

export interface Command {
  /** A program of the bench by its file name, or `asset-export`. */
  readonly program: string;
  readonly args: readonly string[];
}

const bench = new URL('../', import.meta.url);
const preload = new URL('tell-usage.mjs', bench).href;
const typescript = import.meta.resolve('ts-blank-space/register');
const program = fileURLToPath(new URL('../dist/main.js', bench));

/** The arguments of Node for a program of the bench, or for the built `asset-export`. */
export function nodeArguments({ program: name, args }: Command): string[] {
  if (name === 'asset-export') return [program, ...args];
  const file = fileURLToPath(new URL(name, bench));
  return name.endsWith('.ts') ? ['--import', typescript, file, ...args] : [file, ...args];
}

/** Runs a command to its end. @throws when it fails, with the end of what it said. */
export async function runMeasured(command: Command, folder: string): Promise<Usage & { readonly stdout: string }> {
  const told = join(folder, 'usage.json');
  const child = spawn(process.execPath, ['--import', preload, ...nodeArguments(command)], {
    env: { PATH: process.env['PATH'], HOME: folder, ASSET_EXPORT_API_KEY: 'bench', BENCH_USAGE: told },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-2000)));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0) throw new Error(`${command.program} ended with ${String(code ?? signal)}:\n${stderr || stdout}`);
  const usage = JSON.parse(readFileSync(told, 'utf8')) as Usage;
  rmSync(told);
  return { ...usage, stdout };
}
