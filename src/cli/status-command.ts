import { resolve } from 'node:path';
import { exitCodes } from '../lib/exit-codes.ts';
import { type ExportStatus, exportStatus } from '../pipeline/export-status.ts';
import { diskFileStore } from '../store/file-store.ts';
import { type Command, exportWords } from './command.ts';
import { byteSize, count, plural, printable, share } from './format-text.ts';
import { identityLines } from './identity-text.ts';
import { shownPath } from '../lib/shown-path.ts';

/** `status`: where an export stands, also while it runs. */
export const statusCommand: Command = {
  usage: ['status <out> [--json]'],
  about: 'Tells where an export stands, also while it runs. Changes nothing and needs no key.',
  examples: [
    { line: 'status out/demo', about: 'what is done, and who works on it' },
    { line: 'status out/demo --json', about: 'the same for a program: one JSON object' },
  ],
  words: exportWords,
  groups: [{ title: 'Flags', flags: [{ name: 'json', about: 'print one JSON object' }] }],
  run: async (args) => {
    const folder = resolve(args.words[0] ?? '');
    const status = await exportStatus(diskFileStore, folder);
    process.stdout.write(
      args.isOn('json')
        ? `${JSON.stringify({ folder, ...status })}\n`
        : statusText(status, shownPath(folder, process.cwd())),
    );
    return exitCodes.complete.code;
  },
};

/** A glob may stand for thousands. */
const shownInputs = 8;

function statusText(status: ExportStatus, shown: string): string {
  const { counts, owner } = status;
  const words = {
    complete: 'is complete',
    running: `is running: process ${owner?.pid ?? 0} on ${owner?.host ?? ''}`,
    stopped: 'is not complete, and nobody works on it',
  }[status.state];
  const [first = '', ...others] = status.inputs.map(printable);
  const lines = [
    `${shown} ${words}`,
    '',
    ...(status.startedAt === null ? [] : [`  began   ${status.startedAt}`]),
    `  inputs  ${first}`,
    ...others.slice(0, shownInputs - 1).map((name) => `          ${name}`),
    ...(others.length < shownInputs ? [] : [`          and ${count(others.length - shownInputs + 1)} more`]),
    `  done    ${share(status.inputShare, 1)} of the inputs in ${plural(status.parts, 'part')}, ${plural(status.calls, 'call')}`,
    ...memoryLines(status),
    '',
    ...identityLines(counts, 0),
    ...(status.state === 'stopped' ? ['', 'Next: run the same command again to go on.'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function memoryLines({ memory }: ExportStatus): string[] {
  if (memory === null) return [];
  const held = memory.callsHeldBack ? '; calls are held back' : '';
  return [`  memory  ${byteSize(memory.bytesInFlight)} of ids and answers, in flight or not yet written${held}`];
}
