import { resolve } from 'node:path';
import { exitCodes } from '../lib/exit-codes.ts';
import type { Verification } from '../pipeline/verify-export.ts';
import { diskFileStore } from '../store/file-store.ts';
import { type Command, exportWords } from './command.ts';
import { byteSize, count, plural, printable } from './format-text.ts';
import { shownPath } from '../lib/shown-path.ts';

/** `verify`: reads every file of an export again. */
export const verifyCommand: Command = {
  usage: ['verify <out> [--json]'],
  about:
    'Reads every file of a complete export again: hashes, row counts, schemas and the accounting identity must agree with its manifest.',
  examples: [{ line: 'verify out/demo', about: 'exit 0 when all is well, 12 when something is damaged' }],
  words: exportWords,
  groups: [{ title: 'Flags', flags: [{ name: 'json', about: 'print one JSON object' }] }],
  run: async (args) => {
    const folder = resolve(args.words[0] ?? '');
    const { verifyExport } = await import('../pipeline/verify-export.ts');
    const result = await verifyExport(diskFileStore, folder);
    const exitCode = result.damage.length === 0 ? exitCodes.complete.code : exitCodes.damaged.code;
    process.stdout.write(
      args.isOn('json')
        ? `${JSON.stringify({ folder, ok: exitCode === 0, exitCode, ...result })}\n`
        : verifyText(result, shownPath(folder, process.cwd())),
    );
    return exitCode;
  },
};

function verifyText({ files, rows, bytes, damage }: Verification, shown: string): string {
  if (damage.length === 0) {
    return `${shown}: all is well\n  ${plural(files, 'file')}, ${count(rows)} rows, ${byteSize(bytes)}: hashes, rows, columns and the identity agree with the manifest\n`;
  }
  const lines = damage.map(({ path, problem }) => `  ${printable(path)}: ${printable(problem)}`);
  return `${shown}: ${plural(damage.length, 'problem')}\n${lines.join('\n')}\n  Restore these files from a copy, or export again with --fresh.\n`;
}
