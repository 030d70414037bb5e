import { observeIn, runWings } from '../../../world/wings.ts';
import { systemClock } from '../../../lib/clock.ts';
import { shownPath } from '../../../lib/addresses/shown-text.ts';
import { diskFileStore } from '../../../places/files/file-store.ts';
import type { CommandLine } from '../../command.ts';
import { jobCommand, jobOf } from '../../job-flags.ts';
import { nextText } from '../../output/summary-text.ts';
import { showWarning } from '../../output/show-error.ts';
import { programVersion } from '../../../lib/packages/package-root.ts';
import { endpointToName } from '../../flag-values.ts';
import { tellOutcome } from '../run-job.ts';

/** `finalise`: completes an export whose slices are done. */
export const finaliseCommand = jobCommand(
  {
    usage: ['finalise <job.yaml> [flags]', 'finalize <job.yaml> [flags]'],
    about:
      'Checks that every slice is done and every file is there with its size and hash, writes the manifest and removes .run/. The worker that finishes the last slice does the same: use this when that worker died. If slices are not done, it lists them, queues them again and ends with exit 5. Needs no key and sends no call.',
    examples: [{ line: 'finalise job.yaml', about: 'exit 0 if the export is complete, even if it already was' }],
    run: (args) => finalise(args),
  },
  [{ name: 'json', about: 'print the account as one JSON object on stdout' }],
);

async function finalise(args: CommandLine): Promise<number> {
  const { terminal } = args;
  const { job } = jobOf(args);
  const startedMs = systemClock.now();
  const { finaliseJob } = await import('../../../wings/fleet/index.ts');
  const { alreadyComplete } = await import('../../../core/run/export-outcome.ts');
  const { manifest, ...ended } = await finaliseJob(job, {
    clock: systemClock,
    random: Math.random,
    files: diskFileStore,
    version: programVersion(),
    ...runWings,
    observe: observeIn(args.terminal.env),
    listener: (event) => {
      if (event.kind === 'warning') showWarning(event.message, terminal);
    },
  });
  const { dir } = job.output;
  const shown = shownPath(dir, terminal.cwd());
  const outcome = {
    ...alreadyComplete(dir, manifest),
    ...ended,
    elapsedMs: systemClock.now() - startedMs,
  };
  const next = nextText(shown, endpointToName(job, terminal));
  return tellOutcome(outcome, {}, { terminal, job, shown, json: args.isOn('json'), next });
}
