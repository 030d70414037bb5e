import { isAssetId } from '../../ids/asset-id.ts';
import { rawLine } from '../../records/raw-line.ts';
import { createMemoryLedger } from '../../client/ledger/memory-ledger.ts';
import { systemClock } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Command, CommandArguments } from '../command.ts';
import { printable } from '../../lib/format-text.ts';
import { showWarning } from '../output/show-error.ts';
import { shownWord } from '../../lib/shown-address.ts';
import { fleetGroup, jobFlagGroups, jobOf, stateGroup } from '../job-flags.ts';
import { openService } from '../open-service.ts';
import { stopSignals } from '../stop-signals.ts';

/** `get`: records to stdout, as the service sent them. */
export const getCommand: Command = {
  usage: ['get <id…> --url BASE [flags]', 'get <id…> --job job.yaml [flags]'],
  about:
    'Prints records as the service sent them, one JSON line each. One id uses getAsset, several use getAssets. Each call costs credits.',
  examples: [
    { line: 'get <id> --url https://service.example --api-key-file key.txt', about: 'one record' },
    {
      line: 'get <id> <id> --url embedded:asset-export-demo | jq .content.metadata.name',
      about: 'names of two assets',
    },
  ],
  words: { name: '<id…>', about: 'asset ids', least: 1, most: Number.POSITIVE_INFINITY },
  groups: [
    {
      title: stateGroup.title,
      flags: [
        { name: 'job', value: 'FILE', about: 'job file with service and budget (flags work too)' },
        ...stateGroup.flags,
      ],
    },
    ...jobFlagGroups('service', 'budget'),
    fleetGroup,
  ],
  notes: 'Ids that are not found are reported on stderr; the exit code is then 3.',
  run: async (args) => get(args),
};

async function get(args: CommandArguments): Promise<number> {
  const wrong = args.words.filter((id) => !isAssetId(id));
  if (wrong.length > 0) {
    throw new ExportError('usage', `not an asset id: ${wrong.map(shownWord).join(', ')}`, {
      todo: 'An id is base58 of 32 bytes: 32 to 44 characters.',
    });
  }
  const file = args.text('job');
  // The job's other fields are not used here, but the schema requires them.
  const { job } = jobOf({ ...args, words: file === undefined ? [] : [file] }, { ids: '-', out: '.' });
  const signals = stopSignals(0);
  const open = await openService({
    job,
    abort: signals.abort,
    stateDir: args.text('state-dir'),
    keyFileFromFlag: args.text('api-key-file') !== undefined,
    embeddedLedger: () => Promise.resolve(createMemoryLedger()),
  });
  signals.listen((message) => process.stderr.write(`${message}\n`));
  const gone = outputGone(process.stdout);
  let unknown = 0;
  try {
    open.warnings?.forEach(showWarning);
    const context = { clock: systemClock, random: Math.random, proxy: open.proxy, listener: () => undefined };
    const stop = AbortSignal.any([signals.stop, gone.signal]);
    const abort = AbortSignal.any([signals.abort, gone.signal]);
    const { getAssets } = await import('../../operations/get-assets.ts');
    for await (const { id, lookup } of getAssets({ ids: args.words, job }, { ...context, ...open, stop, abort })) {
      if (gone.signal.aborted) break;
      if (lookup.kind === 'found') process.stdout.write(`${rawLine(lookup.records.text(lookup.index))}\n`);
      else {
        unknown += 1;
        process.stderr.write(`${id}: ${lookup.kind}: ${printable(lookup.reason)}\n`);
      }
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    gone.dispose();
    await open.close();
    signals.dispose();
  }
  return unknown === 0 ? exitCodes.complete.code : exitCodes.notTolerated.code;
}

/** Aborts when stdout fails: its reader stopped (`| head`), or its disk is full. */
interface OutputGone {
  readonly signal: AbortSignal;
  dispose(): void;
}

/** Stops paying for answers without a reader. The program decides at its end whether this is an error. */
function outputGone(stdout: NodeJS.WriteStream): OutputGone {
  const gone = new AbortController();
  const onError = (error: Error): void => {
    gone.abort(error);
  };
  stdout.on('error', onError);
  return {
    signal: gone.signal,
    dispose: () => {
      stdout.off('error', onError);
    },
  };
}
