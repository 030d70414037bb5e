import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { systemClock } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { byteSize, printable } from '../../lib/format-text.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import type { ProfileExtent } from '../../wings/report/index.ts';
import type { ReportData } from '../../wings/report/index.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { localDisk } from '../../places/files/disk.ts';
import { type Command, type CommandLine, exportWords } from '../command.ts';
import { absoluteAddress, bucketFlags, exportPlace } from '../export-place.ts';
import { programVersion } from '../../lib/packages/package-root.ts';
import { choiceOf } from '../flag-values.ts';
import type { Terminal } from '../stop-signals.ts';

const extents: readonly ProfileExtent[] = ['exact', 'parts', 'none'];

/** `report`: an export as one HTML page. */
export const reportCommand: Command = {
  usage: ['report <out> [--open] [--to FILE] [--profile exact|parts|none] [--json]'],
  about:
    'Writes report.html into an export: what became of every id, how the runs went, what the assets and their columns hold. One file without scripts or images from elsewhere. Works on finished, unfinished and running exports; needs no key and sends nothing.',
  examples: [
    { line: 'report asset-export-demo', about: 'writes asset-export-demo/report.html' },
    { line: 'report asset-export-demo --open', about: 'opens it in the browser' },
    { line: 'report asset-export-demo --to - > page.html', about: 'the page on stdout' },
    { line: 'report asset-export-demo --json', about: 'what the page shows, as one JSON object' },
  ],
  words: exportWords,
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'open', about: 'open the page in the browser' },
        { name: 'to', value: 'FILE', about: 'write the page to FILE; - is stdout', standard: '<out>/report.html' },
        {
          name: 'profile',
          value: 'EXTENT',
          choices: extents,
          about:
            'rows to count: exact reads all, parts reads every k-th part (default above 5,000,000 rows), none leaves out the sections about assets and columns',
        },
        ...bucketFlags,
        { name: 'json', about: 'print what the page shows as one JSON object; write no page' },
      ],
    },
  ],
  run: (args) => run(args),
};

async function run(args: CommandLine): Promise<number> {
  const given = args.text('to');
  const to = given === undefined ? undefined : absoluteAddress(given, 'page', '--to', args.terminal.cwd());
  const [isOpened, isJson] = [args.isOn('open'), args.isOn('json')];
  const extent = choiceOf(args, 'profile', extents);
  if (isJson && (isOpened || to !== undefined)) {
    throw new ExportError('usage', '--json writes no page: remove --open and --to');
  }
  if (isOpened && to === '-') throw new ExportError('usage', '--open needs a file: remove --to -');
  const place = await exportPlace(args.words[0] ?? '', args);
  if (isOpened && to === undefined && place.store.isShared) {
    throw new ExportError('usage', '--open needs a file on this machine: add --to FILE');
  }
  const { putReport, readExportReport } = await import('../../wings/report/index.ts');
  const data = await readExportReport({ place, nowMs: systemClock.now(), version: programVersion(), extent });
  if (isJson) {
    args.terminal.stdout.write(`${JSON.stringify(data)}\n`);
    return exitCodes.complete.code;
  }
  const { reportPage } = await import('../../wings/report/index.ts');
  const page = reportPage(data);
  if (to === '-') {
    args.terminal.stdout.write(page);
    return exitCodes.complete.code;
  }
  const path = to === undefined ? pathIn(place.folder, exportPaths.report) : to;
  if (to === undefined) await putReport(place, page);
  else await (await import('../../wings/report/index.ts')).writePage(localDisk, path, page);
  args.terminal.stdout.write(
    `${shownPath(path, args.terminal.cwd())}: ${byteSize(Buffer.byteLength(page))}\n${missingNote(data)}`,
  );
  if (isOpened) await openInBrowser(path, args.terminal);
  return exitCodes.complete.code;
}

function missingNote({ profileMissing }: ReportData): string {
  return profileMissing === null ? '' : `The assets and their columns are not shown: ${profileMissing}.\n`;
}

/** What opens a file on each system. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** A machine without a browser is no error: the page is written. */
async function openInBrowser(path: string, { stderr }: Terminal): Promise<void> {
  const [program = '', ...before] = openers[platform()] ?? ['xdg-open'];
  const opened = spawn(program, [...before, path], { detached: true, stdio: 'ignore' });
  const isStarted = await new Promise<boolean>((settle) => {
    opened.once('spawn', () => {
      settle(true);
    });
    opened.once('error', () => {
      settle(false);
    });
  });
  if (isStarted) opened.unref();
  else stderr.write(`cannot open a browser: ${program} is not installed. Open ${printable(path)} yourself.\n`);
}
