import { runWings } from '../../world/wings.ts';
import type { LoadedJob } from '../../core/job/load-job.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import type { RepairRequest } from '../../wings/repair/index.ts';
import type { RepairOutcome } from '../../wings/repair/index.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { CommandLine } from '../command.ts';
import { bucketOutput, exportAddress } from '../export-place.ts';
import { plural } from '../../lib/format-text.ts';
import { jobOf, type RunSettings, runSettings } from '../job-flags.ts';
import type { OpenService } from '../../world/open-service.ts';
import { openServiceFor, openRunContext, type RunContext } from '../run-context.ts';
import { errorJson, errorText } from '../output/show-error.ts';
import { verifyExitCode, verifyText } from '../output/verify-text.ts';

/** `verify --repair`: repairs an export, and spends nothing without `--yes`. Resolves to the exit status. */
export async function repair(args: CommandLine): Promise<number> {
  const settings = runSettings(args);
  const folder = exportAddress(args.words[0] ?? '', args.terminal.cwd());
  const file = args.text('job');
  const isNamed = file !== undefined || args.value('ids') !== undefined || args.value('url') !== undefined;
  const source = isNamed ? jobOf({ ...args, words: file === undefined ? [] : [file] }, { out: folder }) : undefined;
  const outcome = await repaired({ folder, source, output: bucketOutput(args) }, args, settings);
  const { after, error, calls, credits, parts, rebuilt, bill, notes } = outcome;
  const exitCode = error?.exitCode ?? verifyExitCode(after, args.isOn('strict'));
  const shown = shownPath(folder, args.terminal.cwd());
  args.terminal.stderr.write(repairText(outcome, { isPaid: args.isOn('yes'), isNamed }));
  if (error !== undefined) args.terminal.stderr.write(`${errorText(error, args.terminal.cwd())}\n`);
  const account = { rebuilt, bill: bill ?? null, notes, repaired: parts, calls, credits, error: errorJson(error) };
  args.terminal.stdout.write(
    settings.json
      ? `${JSON.stringify({ folder, ok: exitCode === 0, exitCode, ...after, ...account })}\n`
      : verifyText(after, { shown, isStrict: args.isOn('strict'), isRepaired: true }),
  );
  return exitCode;
}

function repairText(
  { after, rebuilt, bill, notes, parts, calls, credits }: RepairOutcome,
  { isPaid, isNamed }: { readonly isPaid: boolean; readonly isNamed: boolean },
): string {
  const files =
    rebuilt.length === 0 ? '' : `${plural(rebuilt.length, 'file')} rebuilt from other files, no credits spent\n`;
  const free = [files, ...notes.map((note) => `${note}\n`)].join('');
  if (bill === undefined) {
    if (after.damage.length === 0 || isNamed) return free;
    return `${free}To repair the rest, add --job <job.yaml>. The cost is printed before anything is spent.\n`;
  }
  if (isPaid) {
    return `${free}${plural(parts.length, 'part')} requested again: ${plural(calls, 'call')}, ${plural(credits, 'credit')}\n`;
  }
  return `${free}The rest must be requested from the service: ${plural(bill.calls, 'call')}, ${plural(bill.credits, 'credit')}\nNothing was requested. Add --yes to request them.\n`;
}

async function repaired(request: RepairRequest, args: CommandLine, settings: RunSettings): Promise<RepairOutcome> {
  const { repairExport } = await import('../../wings/repair/index.ts');
  const { source } = request;
  let open: OpenService | undefined;
  let run: RunContext | undefined;
  const pay = async ({ job }: LoadedJob): Promise<RunContext['context']> => {
    open = await openServiceFor(job, args, { abort: settings.signals.abort });
    run = await openRunContext(job, { open, ...settings });
    return run.context;
  };
  try {
    return await repairExport(request, {
      files: localDisk,
      stdin: args.terminal.stdin,
      abort: settings.signals.abort,
      lake: runWings.lake,
      pay: args.isOn('yes') && source !== undefined ? () => pay(source) : undefined,
    });
  } finally {
    run?.end();
    await open?.close();
    settings.signals.dispose();
  }
}
