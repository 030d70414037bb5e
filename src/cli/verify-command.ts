import { relative, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { exitCodes } from '../lib/exit-codes.ts';
import { type Verification, verifyExport } from '../pipeline/verify-export.ts';
import { diskFileStore } from '../store/file-store.ts';
import { byteSize, count, plural, printable } from './format-text.ts';

interface VerifyArguments {
  readonly out: string;
  readonly json: boolean;
}

/** `verify`: reads every file of an export again. */
export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: 'verify <out>',
  describe: 're-read every file: hashes, row counts, schemas, the accounting identity',
  builder: (args) =>
    args
      .example('$0 verify out/demo', 'exit 0 when all is well, 12 when something is damaged')
      .positional('out', { type: 'string', demandOption: true, describe: 'folder of the export' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' }),
  handler: async ({ out, json }) => {
    const folder = resolve(out);
    const result = await verifyExport(diskFileStore, folder);
    const exitCode = result.damage.length === 0 ? exitCodes.complete.code : exitCodes.damaged.code;
    process.stdout.write(
      json
        ? `${JSON.stringify({ folder, ok: exitCode === 0, exitCode, ...result })}\n`
        : verifyText(result, relative(process.cwd(), folder) || '.'),
    );
    process.exitCode = exitCode;
  },
};

function verifyText({ files, rows, bytes, damage }: Verification, shown: string): string {
  if (damage.length === 0) {
    return `${shown}: all is well\n  ${plural(files, 'file')}, ${count(rows)} rows, ${byteSize(bytes)}: hashes, rows, columns and the identity agree with the manifest\n`;
  }
  const lines = damage.map(({ path, problem }) => `  ${printable(path)}: ${printable(problem)}`);
  return `${shown}: ${plural(damage.length, 'problem')}\n${lines.join('\n')}\n  Restore these files from a copy, or export again with --fresh.\n`;
}
