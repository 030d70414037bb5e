import { exitCodes } from '../lib/exit-codes.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';
import { commandNamed } from './command-named.ts';
import { commands } from './commands.ts';
import { programVersion } from '../lib/packages/package-root.ts';
import { showError } from './output/show-error.ts';
import type { Terminal, TerminalOutput } from './stop-signals.ts';

/** Runs one command line and resolves to its exit code. Data goes to stdout, everything else to stderr. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  const output = watchOutput(terminal.stdout);
  // Messages are not the result of a run: if stderr fails, only lines are lost.
  terminal.stderr.on('error', () => undefined);
  try {
    const exitCode = await runCommand(argv, terminal);
    await output.whole();
    return exitCode;
  } catch (error) {
    const exitCode = showError(error, wantsJson(argv), terminal);
    await output.whole().catch(() => undefined);
    return exitCode;
  }
}

/** Arguments after `--` are not flags. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const print = (text: string): number => {
    stdout.write(text);
    return exitCodes.complete.code;
  };
  const [first, ...rest] = argv;
  if (first === undefined) {
    const { programHelp, widthOf } = await import('./output/help-text.ts');
    stderr.write(programHelp(commands, widthOf(stderr)));
    return exitCodes.usage.code;
  }
  if (first === '--version' || first === '-V') return print(`${programVersion()}\n`);
  if (isHelp(first)) {
    const { programHelp, widthOf } = await import('./output/help-text.ts');
    return print(programHelp(commands, widthOf(stdout)));
  }
  const entry = commandNamed(commands, first);
  const command = await entry.load();
  const flags = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (flags.some(isHelp)) {
    const { commandHelp, widthOf } = await import('./output/help-text.ts');
    return print(commandHelp(command, widthOf(stdout)));
  }
  refuseLeakingDebugLogs(terminal.env['NODE_DEBUG']);
  const { parseArguments, requireKinds, withEachList } = await import('./parse-arguments.ts');
  const args = parseArguments(entry.name, command, withEachList(rest, command, terminal.cwd()));
  requireKinds(entry.name, command, args, terminal.cwd());
  return command.run({ ...args, terminal });
}

/** Reports a stdout that could not be written. */
function watchOutput(stdout: TerminalOutput): { whole(): Promise<void> } {
  let failure: Error | undefined;
  stdout.on('error', (error: Error) => {
    failure ??= error;
  });
  return {
    whole: async () => {
      await new Promise<void>((resolve) => {
        stdout.write('', () => {
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

/** Node's and undici's debug logs that print the address of a request, which ends with the key. */
const leaking = ['undici', 'fetch', 'http', 'net'];

/**
 * The names are read as Node reads them: parted by commas, in any case, `*` for any text. Node has read the variable before
 * this program starts, so removing it has no effect.
 * @throws {ExportError} `usage`
 */
export function refuseLeakingDebugLogs(nodeDebug: string | undefined): void {
  const patterns = (nodeDebug ?? '').split(',').filter((name) => name !== '');
  const leaks = patterns.find((pattern) => leaking.some((name) => isMatch(pattern, name)));
  if (leaks === undefined) return;
  throw new ExportError('usage', `NODE_DEBUG=${leaks} would print the API key to stderr`, {
    todo: 'Unset NODE_DEBUG, or remove this name from it.',
  });
}

function isMatch(pattern: string, name: string): boolean {
  const source = pattern.replace(/[|\\{}()[\]^$+?.]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 'i').test(name);
}
