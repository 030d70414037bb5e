import { relative, resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { type ExportStatus, exportStatus } from '../pipeline/export-status.ts';
import { diskFileStore } from '../store/file-store.ts';
import { count, plural, printable, share } from './format-text.ts';

interface StatusArguments {
  readonly out: string;
  readonly json: boolean;
}

/** `status`: where an export stands, also while it runs. */
export const statusCommand: CommandModule<object, StatusArguments> = {
  command: 'status <out>',
  describe: 'where an export stands, also while it runs',
  builder: (args) =>
    args
      .example('$0 status out/demo', '')
      .positional('out', { type: 'string', demandOption: true, describe: 'folder of the export' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' }),
  handler: async ({ out, json }) => {
    const folder = resolve(out);
    const status = await exportStatus(diskFileStore, folder);
    process.stdout.write(
      json ? `${JSON.stringify({ folder, ...status })}\n` : statusText(status, relative(process.cwd(), folder) || '.'),
    );
  },
};

function statusText(status: ExportStatus, shown: string): string {
  const { counts, owner } = status;
  const words = {
    complete: 'is complete',
    running: `is running: process ${owner?.pid ?? 0} on ${owner?.host ?? ''}`,
    stopped: 'is not complete, and nobody works on it',
  }[status.state];
  const lines = [
    `${shown} ${words}`,
    '',
    ...(status.startedAt === null ? [] : [`  began      ${status.startedAt}`]),
    `  inputs     ${status.inputs.map(printable).join(', ')}`,
    `  done       ${share(status.inputShare, 1)} of the inputs, ${plural(status.parts, 'part')}`,
    `  read       ${count(counts.read)} = ${count(counts.exported)} exported + ${count(counts.missing)} missing + ${count(counts.invalid)} invalid + ${count(counts.duplicate)} duplicate + ${count(counts.failed)} failed`,
    `  calls      ${count(status.calls)}`,
    ...(status.state === 'stopped' ? ['', 'Next: run the same command again to go on.'] : []),
  ];
  return `${lines.join('\n')}\n`;
}
