import { exitCodes } from '../lib/exit-codes.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';
import { commandNamed } from './command-named.ts';
import { commands } from './commands.ts';
import { commandHelp, programHelp, widthOf } from './output/help-text.ts';
import { refuseLeakingDebugLogs } from './node-debug.ts';
import { programVersion } from './program-version.ts';
import { showError } from './output/show-error.ts';
import { endFirstProcess } from './stop-signals.ts';

/** Runs one command line and resolves to its exit code. Data goes to stdout, everything else to stderr. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const output = watchOutput();
  endFirstProcess();
  // Messages are not the result of a run: if stderr fails, only lines are lost.
  process.stderr.on('error', () => undefined);
  try {
    const exitCode = await runCommand(argv);
    await output.whole();
    return exitCode;
  } catch (error) {
    const exitCode = showError(error, wantsJson(argv));
    await output.whole().catch(() => undefined);
    return exitCode;
  }
}

/** Arguments after `--` are not flags. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

async function runCommand(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    process.stderr.write(programHelp(commands, widthOf(process.stderr)));
    return exitCodes.usage.code;
  }
  if (first === '--version' || first === '-V') return print(`${programVersion()}\n`);
  if (isHelp(first)) return print(programHelp(commands, widthOf(process.stdout)));
  const entry = commandNamed(commands, first);
  const command = await entry.load();
  const flags = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (flags.some(isHelp)) return print(commandHelp(command, widthOf(process.stdout)));
  refuseLeakingDebugLogs(process.env['NODE_DEBUG']);
  const { parseArguments } = await import('./parse-arguments.ts');
  return command.run(parseArguments(entry.name, command, rest));
}

/** Reports a stdout that could not be written. */
function watchOutput(): { whole(): Promise<void> } {
  let failure: Error | undefined;
  process.stdout.on('error', (error: Error) => {
    failure ??= error;
  });
  return {
    whole: async () => {
      await new Promise<void>((resolve) => {
        process.stdout.write('', () => {
          resolve();
        });
      });
      // A reader that stops reading (`| head`) is no error.
      if (failure === undefined || codeOf(failure) === 'EPIPE') return;
      throw new ExportError('cannotWrite', `cannot write to stdout: ${failure.message}`, { cause: failure });
    },
  };
}

function isHelp(text: string): boolean {
  return text === '--help' || text === '-h';
}

function print(text: string): number {
  process.stdout.write(text);
  return exitCodes.complete.code;
}
