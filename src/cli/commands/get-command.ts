import { makeTemporary } from '../../lib/disk/on-disk.ts';
import { rm } from 'node:fs/promises';
import { isAssetId } from '../../lib/ids/asset-id.ts';
import type { InvalidSample } from '../../core/ids/read/list-form.ts';
import type { LoadedJob } from '../../core/job/load-job.ts';
import { rawLine } from '../../core/records/scan/record-rows.ts';
import { createMemoryLedger } from '../../core/client/ledger/credit-ledger.ts';
import { systemClock } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { Command, CommandLine } from '../command.ts';
import { printable } from '../../lib/format-text.ts';
import { showWarning } from '../output/show-error.ts';
import { shownWord } from '../../lib/addresses/shown-text.ts';
import { fleetGroups, jobFlagGroups, jobOf, stateGroup } from '../job-flags.ts';
import { openService } from '../../world/open-service.ts';
import { lookedAround } from '../run-context.ts';
import { stopSignals, type Terminal, type TerminalOutput } from '../stop-signals.ts';

/** `get`: records to stdout, as the service sent them. */
export const getCommand: Command = {
  usage: ['get <id…> --url BASE [flags]', 'get <id…> --job job.yaml [flags]', 'get --ids FILE --url BASE [flags]'],
  about:
    'Prints records as the service sent them, one JSON line each. One id uses getAsset, several use getAssets. Each call costs credits.',
  examples: [
    { line: 'get <id> --url https://service.example --api-key-file key.txt', about: 'one record' },
    {
      line: 'get <id> <id> --url embedded:asset-export-demo | jq .content.metadata.name',
      about: 'names of two assets',
    },
    { line: 'get --ids mints.csv --limit 10 --job job.yaml', about: 'the first ten ids of a list; --ids - is stdin' },
  ],
  words: {
    name: '[id…]',
    about: 'asset ids, unless --ids is given',
    least: 0,
    most: Number.POSITIVE_INFINITY,
    is: 'id',
  },
  groups: [
    {
      title: stateGroup.title,
      flags: [
        { name: 'job', value: 'FILE', about: 'job file with service and budget (flags work too)' },
        ...stateGroup.flags,
      ],
    },
    ...jobFlagGroups('ids', 'service', 'budget'),
    ...fleetGroups,
  ],
  notes:
    'Ids that are not found, and entries of a list that are not ids, are reported on stderr; the exit code is then 3.',
  run: async (args) => get(args),
};

async function get(args: CommandLine): Promise<number> {
  const { terminal } = args;
  const fromList = args.value('ids') !== undefined;
  requireIds(args.words, fromList);
  const file = args.text('job');
  // The job's other fields are not used here, but the schema requires them.
  const fixed = { out: '.', ...(fromList ? {} : { ids: '-' }) };
  const { job, idsFolder } = jobOf({ ...args, words: file === undefined ? [] : [file] }, fixed);
  let list: OpenList | undefined;
  const signals = stopSignals(0, terminal);
  const open = await openService({
    job,
    ...lookedAround(args),
    abort: signals.abort,
    embeddedLedger: () => Promise.resolve(createMemoryLedger()),
  });
  signals.listen((message) => terminal.stderr.write(`${message}\n`));
  const gone = outputGone(terminal.stdout);
  let unknown = 0;
  try {
    for (const warning of open.warnings ?? []) showWarning(warning, terminal);
    const context = { clock: systemClock, random: Math.random, proxy: open.proxy, listener: () => undefined };
    const stop = AbortSignal.any([signals.stop, gone.signal]);
    const abort = AbortSignal.any([signals.abort, gone.signal]);
    if (fromList) list = await openList({ job, idsFolder }, terminal);
    const { getAssets } = await import('../../core/run/get-assets.ts');
    for await (const { id, lookup } of getAssets(
      { ids: list?.ids ?? args.words, job },
      { ...context, ...open, stop, abort },
    )) {
      if (gone.signal.aborted) break;
      if (lookup.kind === 'found') terminal.stdout.write(`${rawLine(lookup.records.text(lookup.index))}\n`);
      else {
        unknown += 1;
        terminal.stderr.write(`${id}: ${lookup.kind}: ${printable(lookup.reason)}\n`);
      }
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    gone.dispose();
    await list?.close();
    await open.close();
    signals.dispose();
  }
  if (list?.entries() === 0)
    throw new ExportError('notTolerated', 'no id was read', { todo: 'Check the files of --ids.' });
  return unknown + (list?.invalid() ?? 0) === 0 ? exitCodes.complete.code : exitCodes.notTolerated.code;
}

/** @throws {ExportError} `usage` unless there are ids, as words or in a list, and the words are ids */
function requireIds(words: readonly string[], fromList: boolean): void {
  if (fromList === words.length > 0) {
    throw new ExportError('usage', fromList ? 'ids were given twice: as words and with --ids' : 'no ids given', {
      todo: 'Name ids, or files of ids with --ids FILE (- is stdin).',
    });
  }
  const wrong = words.filter((id) => !isAssetId(id));
  if (wrong.length > 0) {
    throw new ExportError('usage', `not an asset id: ${wrong.map(shownWord).join(', ')}`, {
      todo: `An id is base58 of 32 bytes: 32 to 44 characters.${/[,;]/.test(wrong.join('')) ? ' Separate ids with spaces.' : ''}`,
    });
  }
}

/** Ids of files. */
interface OpenList {
  /** Those that are valid, each once. */
  readonly ids: AsyncIterable<string>;
  /** Entries so far, and those that are not ids: these are on stderr. */
  entries(): number;
  invalid(): number;
  close(): Promise<void>;
}

/** Finds the files of ids as `run` does. @throws {ExportError} `input` */
async function openList(
  { job, idsFolder }: Pick<LoadedJob, 'job' | 'idsFolder'>,
  { stdin, stderr }: Terminal,
): Promise<OpenList> {
  const { prepareInputs } = await import('../../core/ids/prepare-inputs.ts');
  const { entriesOf } = await import('../../core/ids/prepare-inputs.ts');
  const { sampleText } = await import('../../core/ids/read/list-form.ts');
  const { bucketIds } = await import('../../core/run/homes/open-home.ts');
  // Ids from stdin and from buckets are copied, so that they can be read again.
  const folder = await makeTemporary('get');
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const findRemote = bucketIds(job, { clock: systemClock, random: Math.random });
  const sources = { job, idsFolder, files: localDisk, stdin, folder, findRemote, outputDir: null };
  const prepared = await prepareInputs(sources).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  let entries = 0;
  let invalid = 0;
  const onInvalid = (sample: InvalidSample): void => {
    invalid += 1;
    stderr.write(`${printable(sampleText(sample))}\n`);
  };
  async function* validIds(): AsyncGenerator<string, void, void> {
    for await (const block of entriesOf(job, prepared, { onInvalid })) {
      entries += block.length;
      yield* block.ids();
    }
  }
  return { ids: validIds(), entries: () => entries, invalid: () => invalid, close };
}

/**
 * Aborts when stdout fails: its reader stopped (`| head`), or its disk is full. Answers without a reader are not paid for. The program
 * decides at its end whether this is an error.
 */
function outputGone(stdout: TerminalOutput) {
  const gone = new AbortController();
  const onError = (error: Error): void => {
    gone.abort(error);
  };
  stdout.on('error', onError);
  return {
    signal: gone.signal,
    dispose: (): void => {
      stdout.off('error', onError);
    },
  };
}
