// Preloaded into a measured program (`--import`): at its end it tells what the whole process took, all threads included.
import { readFileSync, writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const told = process.env['BENCH_USAGE'];
// Threads preload it too; the process is told once.
if (isMainThread && told !== undefined) {
  // The pauses of the main thread: what helper threads collect beside it is in the CPU time alone.
  let gcMs = 0;
  const add = (/** @type {readonly import('node:perf_hooks').PerformanceEntry[]} */ entries) => {
    for (const { duration } of entries) gcMs += duration;
  };
  const pauses = new PerformanceObserver((list) => add(list.getEntries()));
  pauses.observe({ entryTypes: ['gc'] });
  process.once('exit', () => {
    add(pauses.takeRecords());
    const { userCPUTime, systemCPUTime, minorPageFault } = process.resourceUsage();
    const [userS, systemS] = [userCPUTime / 1e6, systemCPUTime / 1e6];
    const usage = { cpuS: userS + systemS, systemS, gcS: gcMs / 1000, faults: minorPageFault };
    writeFileSync(told, JSON.stringify({ ...usage, wallS: performance.now() / 1000, peakMiB: peakMiB() }));
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
