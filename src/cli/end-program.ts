import { exitCodes } from '../lib/exit-codes.ts';

/** The signals that end a program, and how an end by each is called. */
export const endSignals = { SIGINT: 'interrupted', SIGTERM: 'terminated' } as const;
export type EndSignal = keyof typeof endSignals;
export const endSignalNames = ['SIGINT', 'SIGTERM'] as const satisfies readonly EndSignal[];

/** How long the program waits at its end for sockets that are still open, in milliseconds. */
const socketsMs = 1000;

let isTold = false;

/** A signal told the program to end: it waits for no socket then. */
export function toldToEnd(): void {
  isTold = true;
}

/** Ends the program when its work is done. */
export function endSoon(exitCode: number): void {
  process.exitCode = exitCode;
  const name = endSignalNames.find((each) => exitCodes[endSignals[each]].code === exitCode);
  if (name !== undefined) endProgram(name);
  if (isTold) process.exit();
  setTimeout(() => process.exit(), socketsMs).unref();
}

/** Ends the program at once, with the status of a signal. */
export function endProgram(name: EndSignal): never {
  // `process.exit` waits for names that are looked up: ten seconds and more where no resolver answers. The signal itself does not,
  // and its status is the same for a shell. Last, as other listeners may have something to remove.
  process.once('exit', () => {
    if (!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) return;
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  });
  process.exit(exitCodes[endSignals[name]].code);
}
