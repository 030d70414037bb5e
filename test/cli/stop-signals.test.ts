import { afterEach, describe, expect, it, vi } from 'vitest';
import { processTerminal } from '../../src/cli/process-terminal.ts';
import { type StopSignals, stopSignals, type EndSignal } from '../../src/cli/stop-signals.ts';
import { ExportError } from '../../src/lib/export-error.ts';

let signals: StopSignals | undefined;

afterEach(() => {
  signals?.dispose();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function listening(graceMs: number, tell: (message: string) => void = () => undefined, second?: 'abort'): StopSignals {
  const made = stopSignals(graceMs, processTerminal);
  made.listen(tell, second);
  return made;
}

/** Calls the newest listener: the test runner has its own. */
function receive(name: EndSignal): void {
  process.listeners(name).at(-1)?.(name);
}

describe('the first signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s stops new calls and ends with %d', (name, exitCode) => {
    const told: string[] = [];
    signals = listening(1000, (message) => told.push(message));
    receive(name);
    expect(signals.stop.aborted).toBe(true);
    expect(signals.abort.aborted).toBe(false);
    const reason: unknown = signals.stop.reason;
    expect(reason instanceof ExportError && reason.exitCode).toBe(exitCode);
    expect(told).toEqual([`${name}: no new calls; waiting for answers in flight (signal again to stop at once)`]);
  });

  it('tells of no waiting where there is no time of grace', () => {
    const told: string[] = [];
    signals = listening(0, (message) => told.push(message));
    receive('SIGINT');
    expect(told).toEqual(['SIGINT: no new calls; not waiting for answers in flight']);
  });

  it('leaves answers in flight the time of grace, and no longer', () => {
    vi.useFakeTimers();
    signals = listening(1000);
    receive('SIGTERM');
    vi.advanceTimersByTime(999);
    expect(signals.abort.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signals.abort.aborted).toBe(true);
  });
});

// Promise, Nothing lost: The first signal keeps answers, the second ends the program
it('the second signal ends the program at once', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  signals = listening(1000);
  receive('SIGTERM');
  expect(exit).not.toHaveBeenCalled();
  receive('SIGINT');
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
});

it('the second signal ends what is in flight where the program has to clean up, and the third the program', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  signals = listening(1000, undefined, 'abort');
  receive('SIGINT');
  expect(signals.abort.aborted).toBe(false);
  receive('SIGINT');
  expect(signals.abort.reason).toBe(signals.stop.reason);
  expect(exit).not.toHaveBeenCalled();
  receive('SIGINT');
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
});

it('signals have their usual meaning before a run and after it', () => {
  const before = process.listenerCount('SIGINT');
  signals = stopSignals(1000, processTerminal);
  expect(process.listenerCount('SIGINT')).toBe(before);
  signals.listen(() => undefined);
  expect(process.listenerCount('SIGINT')).toBe(before + 1);
  signals.dispose();
  expect(process.listenerCount('SIGINT')).toBe(before);
});

it('the time of grace goes on where the program works on another export after the one that was stopped', () => {
  vi.useFakeTimers();
  signals = listening(1000);
  receive('SIGTERM');
  signals.dispose();
  signals.listen(() => undefined);
  vi.advanceTimersByTime(1000);
  expect(signals.abort.aborted).toBe(true);
});
