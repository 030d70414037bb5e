import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What was measured on, in a line each. */
export function machineLines(now: Date): string[] {
  const [cpu] = cpus();
  return [
    `- machine: ${cpu?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 1e9)} GB of memory`,
    `- system: ${process.platform} ${process.arch}, Node ${process.versions.node}`,
    `- commit: ${commit()}`,
    `- date: ${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  ];
}

function commit(): string {
  const head = git(['rev-parse', '--short', 'HEAD']);
  if (head === undefined) return 'unknown';
  const changed = git(['status', '--porcelain', '--', 'src', 'bench', 'package-lock.json', ':!bench/RESULTS.md']);
  return changed === '' ? head : `${head}, and changes that are not committed`;
}

function git(args: readonly string[]): string | undefined {
  const folder = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
