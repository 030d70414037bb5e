// Preloaded into a measured program (`--import`): at its end it tells what the whole process took, all threads included.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const told = process.env['BENCH_USAGE'];
// Threads preload it too; the process is told once.
if (isMainThread && told !== undefined) {
  process.once('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    const cpuS = (userCPUTime + systemCPUTime) / 1e6;
    writeFileSync(told, JSON.stringify({ cpuS, wallS: performance.now() / 1000, peakMiB: peakMiB() }));
  });
}

/** The resource usage of a process begins with the peak of the one that started it; its status does not. */
function peakMiB() {
  try {
    const [, kB] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kB !== undefined) return Number(kB) / 1024;
  } catch {
    // No Linux.
  }
  return process.resourceUsage().maxRSS / 1024;
}
