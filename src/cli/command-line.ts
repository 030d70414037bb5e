import { exitCodes } from '../lib/exit-codes.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';
import { type CommandEntry, commands } from './commands.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { commandHelp, programHelp } from './help-text.ts';
import { programVersion } from './program-version.ts';
import { showError } from './show-error.ts';

/** Runs one command line and tells its exit status. Data goes to stdout, everything else to stderr. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const output = watchOutput();
  // What is told there is not what a run is for: a full disk, a reader or a terminal that is gone loses lines, and nothing else.
  process.stderr.on('error', () => undefined);
  try {
    const exitCode = await runCommand(argv);
    await output.whole();
    return exitCode;
  } catch (error) {
    return showError(error, wantsJson(argv));
  }
}

/** Flags behind `--` are words. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

async function runCommand(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    process.stderr.write(programHelp(commands, columns(process.stderr)));
    return exitCodes.usage.code;
  }
  if (first === '--version') return print(`${programVersion()}\n`);
  if (isHelp(first)) return print(programHelp(commands, columns(process.stdout)));
  const entry = commandNamed(first);
  const command = await entry.load();
  const flags = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (flags.some(isHelp)) return print(commandHelp(command, columns(process.stdout)));
  const { parseArguments } = await import('./parse-arguments.ts');
  return command.run(await parseArguments(entry.name, command, rest));
}

/** Sees to it that what went to stdout arrived there. */
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
      // A reader that goes away (`| head`) has what it wants.
      if (failure === undefined || codeOf(failure) === 'EPIPE') return;
      throw new ExportError('cannotWrite', `stdout cannot be written: ${failure.message}`, { cause: failure });
    },
  };
}

function commandNamed(name: string): CommandEntry {
  const found = commands.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const todo = 'asset-export --help lists the commands.';
  if (name.startsWith('-')) {
    throw new ExportError('usage', `the command comes before its flags: asset-export run ${name} …`, { todo });
  }
  const names = commands.map((entry) => entry.name);
  const guess = nearestName(name, names);
  throw new ExportError(
    'usage',
    `there is no command ${name}${guess === undefined ? '' : `; did you mean ${guess}?`}`,
    {
      todo,
    },
  );
}

function isHelp(text: string): boolean {
  return text === '--help' || text === '-h';
}

function print(text: string): number {
  process.stdout.write(text);
  return exitCodes.complete.code;
}

/** Width of the terminal; 80 elsewhere. */
function columns(stream: NodeJS.WriteStream): number {
  return stream.columns || 80;
}
