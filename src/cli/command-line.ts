import { closest, distance } from 'fastest-levenshtein';
import yargs, { type CommandModule } from 'yargs';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';
import { planCommand } from './plan-command.ts';
import { programVersion } from './program-version.ts';
import { runCommand } from './run-command.ts';
import { serveCommand } from './serve.ts';
import { showError } from './show-error.ts';
import { statusCommand } from './status-command.ts';
import { verifyCommand } from './verify-command.ts';

const commands = [
  runCommand,
  planCommand,
  statusCommand,
  verifyCommand,
] as readonly unknown[] as readonly CommandModule[];

/** Runs one command line and tells its exit status. Data goes to stdout, everything else to stderr. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  // A reader that goes away (`| head`) ends the output, not the work.
  process.stdout.on('error', () => undefined);
  process.exitCode = exitCodes.complete.code;
  try {
    await parser(argv).parseAsync();
    return process.exitCode;
  } catch (error) {
    return showError(error);
  }
}

function parser(argv: readonly string[]) {
  let program = yargs([...argv])
    .scriptName('asset-export')
    .usage('$0 <command>\n\nExports the metadata of many assets to Parquet, CSV and JSONL.')
    .parserConfiguration({ 'camel-case-expansion': false, 'parse-positional-numbers': false })
    .version(programVersion)
    .help()
    .alias('help', 'h')
    .wrap(Math.min(100, process.stdout.columns || 80))
    .strict()
    .recommendCommands()
    .demandCommand(1, 'Name a command.')
    .exitProcess(false)
    .showHelpOnFail(false)
    .epilogue(exitTable())
    .fail((message, error, self) => {
      if (error instanceof Error && error.name !== 'YError') throw error;
      throw wrongUsage(message || messageOf(error), flagsOf(self));
    });
  for (const command of commands) program = program.command(command);
  return program;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'the command line cannot be read';
}

/** yargs knows a command's flags, but its types do not say so. */
function flagsOf(self: object): string[] {
  const { getOptions } = self as { getOptions?: () => { key: Record<string, unknown> } };
  return Object.keys(getOptions?.().key ?? {});
}

/** yargs' words, with the flag that was probably meant. */
function wrongUsage(message: string, flags: readonly string[]): ExportError {
  const unknown = /^Unknown arguments?: (.+)$/.exec(message)?.[1]?.split(', ')[0];
  if (unknown === undefined || flags.length === 0) {
    return new ExportError('usage', message.split('\n')[0] ?? message, { todo: 'See asset-export --help.' });
  }
  const near = closest(unknown, [...flags]);
  const guess = distance(unknown, near) <= Math.max(2, unknown.length / 3) ? ` Did you mean --${near}?` : '';
  return new ExportError('usage', `there is no flag or argument "${unknown}".${guess}`, {
    todo: 'Add --help to see what the command takes.',
  });
}

function exitTable(): string {
  const rows = Object.values(exitCodes).map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`);
  return `Exit codes:\n${rows.join('\n')}\n\nasset-export <command> --help shows examples and every flag.`;
}
