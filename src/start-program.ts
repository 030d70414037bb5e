import { endSoon, processTerminal, takeSignals } from './cli/process-terminal.ts';
import { showError } from './cli/output/show-error.ts';
import { giveAddressesTime } from './lib/network.ts';

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
    const { runCommandLine } = await import('./cli/command-line.ts');
    endSoon(await runCommandLine(process.argv.slice(2), processTerminal));
  } catch (error) {
    endSoon(showError(error, false, processTerminal));
  }
}
