import type { LakeLoss } from '../../core/run/nights.ts';
import { systemClock, utcDay } from '../../lib/clock.ts';
import { runWings } from '../../world/wings.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { byteSize, plural, printable } from '../../lib/format-text.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import type { Pruning } from '../../wings/nights/index.ts';
import { bucketFlags, exportPlace } from '../export-place.ts';
import type { Command, CommandLine } from '../command.ts';
import { countOf } from '../flag-values.ts';

/** `prune`: removes old exports from a folder of exports. */
export const pruneCommand: Command = {
  usage: ['prune <dir> --keep-last N --keep-daily N --keep-weekly N --keep-monthly N [--yes] [--json]'],
  about:
    'Removes old exports from a folder of exports. Prints which exports the rules keep, and why. Removes the others only with --yes. An export is kept if any rule keeps it.',
  examples: [
    { line: 'prune out/nightly --keep-daily 7 --keep-weekly 4', about: 'print what would be removed; change nothing' },
    { line: 'prune out/nightly --keep-daily 7 --keep-weekly 4 --yes', about: 'remove it' },
  ],
  words: {
    name: '<dir>',
    about: 'folder of exports: the part of output.dir before {date}',
    least: 1,
    most: 1,
    is: 'nights',
  },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'keep-last', value: 'N', about: 'keep the N newest exports' },
        { name: 'keep-daily', value: 'N', about: 'keep the newest export of each of the last N days' },
        { name: 'keep-weekly', value: 'N', about: 'the same for ISO weeks' },
        { name: 'keep-monthly', value: 'N', about: 'the same for months' },
        { name: 'yes', about: 'remove the exports that no rule keeps' },
        ...bucketFlags,
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  notes:
    'Each family of names, such as nfts-2026-11-20 and nfts-2026-11-21, is counted apart. Days, weeks and months without an export do not count. Never removed: the newest complete export, the one that latest names, the base of an unfinished export, exports that are dated after today, unfinished, locked, being repaired or damaged, diffs, and exports with other files in their folder. An export that tolerance.maxUnlisted set aside counts for no rule. If prune is interrupted, run it again.',
  run: (args) => run(args),
};

async function run(args: CommandLine): Promise<number> {
  const place = await exportPlace(args.words[0] ?? '', args);
  const { planPruning, pruneFollowed, lossesOf, nightsAt } = await import('../../wings/nights/index.ts');
  const nights = await nightsAt(place, systemClock);
  const pruning = await planPruning(nights, rulesOf(args), { today: utcDay(systemClock.now()) });
  const isDone = args.isOn('yes');
  const root = { place, clock: systemClock };
  const lake = await lossesOf(root, pruning, runWings);
  if (isDone) await pruneFollowed(root, { place: nights, pruning }, runWings);
  const { folder } = place;
  args.terminal.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ folder, done: isDone, ...pruning, ...(lake === undefined ? {} : { lake }) })}\n`
      : textOf(pruning, shownPath(folder, args.terminal.cwd()), isDone) + lossText(lake, isDone),
  );
  return exitCodes.complete.code;
}

const mostKept = { most: 999_999 };

function rulesOf(args: CommandLine) {
  return {
    last: countOf(args, 'keep-last', mostKept) ?? 0,
    daily: countOf(args, 'keep-daily', mostKept) ?? 0,
    weekly: countOf(args, 'keep-weekly', mostKept) ?? 0,
    monthly: countOf(args, 'keep-monthly', mostKept) ?? 0,
  };
}

function textOf({ kept, removed, leftovers }: Pruning, shown: string, isDone: boolean): string {
  const width = Math.max(0, ...[...kept, ...removed].map(({ name }) => name.length));
  const line = (verb: string, name: string, rest: string): string =>
    `  ${verb.padEnd(7)} ${printable(name).padEnd(width)}  ${printable(rest)}\n`;
  const verb = isDone ? 'removed' : 'remove';
  const rows = [
    ...kept.map(({ name, reasons }) => ({ name, text: line(isDone ? 'kept' : 'keep', name, reasons.join(', ')) })),
    ...removed.map(({ name, bytes }) => ({ name, text: line(verb, name, byteSize(bytes)) })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const left = leftovers.map((name) => line(verb, name, 'left by an interrupted prune'));
  return `${shown}: ${plural(kept.length + removed.length, 'export')}\n${[...rows.map(({ text }) => text), ...left].join('')}${endOf({ removed, leftovers }, isDone)}`;
}

/** What goes from the tables of the lake. */
function lossText(lake: LakeLoss | undefined, isDone: boolean): string {
  if (lake === undefined) return '';
  const what = `${plural(lake.nights.length, 'night')} (${lake.nights.join(', ')}) in ${lake.tables.join(', ')}`;
  return isDone ? `The lake lost ${what}.\n` : `The lake would lose ${what}.\n`;
}

function endOf({ removed, leftovers }: Pick<Pruning, 'removed' | 'leftovers'>, isDone: boolean): string {
  if (removed.length + leftovers.length === 0) return 'Nothing to remove.\n';
  const bytes = removed.reduce((sum, each) => sum + each.bytes, 0);
  const what = `${plural(removed.length, 'export')}, ${byteSize(bytes)}`;
  return isDone ? `Removed ${what}.\n` : `Nothing was removed. With --yes: ${what}.\n`;
}
