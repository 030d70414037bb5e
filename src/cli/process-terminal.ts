import { readFileSync } from 'node:fs';
import { exitCodes } from '../lib/exit-codes.ts';
import { type EndSignal, endSignalNames, endSignals, type Terminal } from './stop-signals.ts';
import { showError } from './output/show-error.ts';
import { giveAddressesTime } from '../lib/network.ts';

/** How long the program waits at its end for sockets that are still open, in milliseconds. */
const socketsMs = 1000;

let isTold = false;

/** How many take the signals now. */
let listeners = 0;

/**
 * Whether nohup started this process: Node.js sets back that SIGHUP was ignored. A shell names the program that it starts (`_`), and
 * nohup gives a process that had a terminal a stdin which cannot be read.
 */
function ignoresHangup(): boolean {
  if (/(?:^|\/)nohup$/.test(process.env['_'] ?? '')) return true;
  try {
    const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/0', 'utf8')) ?? [];
    return flags.endsWith('1');
  } catch {
    return false; // Not Linux, or stdin is closed.
  }
}

const endingSignals: readonly EndSignal[] = ignoresHangup()
  ? endSignalNames.filter((name) => name !== 'SIGHUP')
  : endSignalNames;

/** The terminal of this process. Its streams are opened when they are first used. */
export const processTerminal: Terminal = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  env: process.env,
  cwd: () => process.cwd(),
  onSignal: (name, listener) => {
    if (!endingSignals.includes(name)) return () => undefined;
    process.on(name, listener);
    listeners += 1;
    return () => {
      process.off(name, listener);
      listeners -= 1;
    };
  },
  toldToEnd,
  endBy,
  onExit: (listener) => {
    process.once('exit', listener);
  },
};

function toldToEnd(): void {
  isTold = true;
}

/** Ends the program when its work is done. */
export function endSoon(exitCode: number): void {
  process.exitCode = exitCode;
  const name = endSignalNames.find((each) => exitCodes[endSignals[each]].code === exitCode);
  if (name !== undefined) endBy(name);
  if (isTold) process.exit();
  setTimeout(() => process.exit(), socketsMs).unref();
}

function endBy(name: EndSignal): never {
  // `process.exit` waits for names that are looked up: ten seconds and more where no resolver answers. The signal itself does not,
  // and its status is the same for a shell. Last, as other listeners may have something to remove.
  process.once('exit', () => {
    if (!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) return;
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  });
  process.exit(exitCodes[endSignals[name]].code);
}

/** The kernel gives signals no effect on the first process of a container, unless it takes them. One that is ignored is taken for ever. */
function takeSignals(): void {
  for (const name of endSignalNames) if (!endingSignals.includes(name)) process.on(name, () => undefined);
  if (process.pid !== 1) return;
  for (const name of endingSignals) {
    process.on(name, () => {
      if (listeners === 0) endBy(name);
    });
  }
}

/** Runs the command line of this process. */
export async function startProgram(): Promise<void> {
  // Errors outside of what is awaited, of a library that the system gives no memory, for example.
  process.once('uncaughtException', (error) => {
    process.exit(showError(error, false, processTerminal));
  });
  // Drivers warn of their own next versions, in lines for programmers.
  process.removeAllListeners('warning');
  takeSignals();
  giveAddressesTime();
  try {
    // Loaded here, so that running out of handles while loading is reported in words.
    const { runCommandLine } = await import('./command-line.ts');
    endSoon(await runCommandLine(process.argv.slice(2), processTerminal));
  } catch (error) {
    endSoon(showError(error, false, processTerminal));
  }
}
