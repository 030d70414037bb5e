import { commands } from '../src/cli/commands.ts';
import type { Command, CommandFlag, FlagGroup } from '../src/cli/command.ts';
import { aboutFlag, flagText, programHelp, sharedText } from '../src/cli/output/help-text.ts';
import { jobFlagGroups, jobNotes } from '../src/cli/job-flags.ts';
import { jobFields } from '../src/core/job/job-fields.ts';
import { listFilters, serviceDialects } from '../src/core/client/dialects.ts';
import { type Again, exitCodes } from '../src/lib/exit-codes.ts';
import { promisesText } from './promises.ts';

/** The pages that have generated sections, as paths from the project's folder. */
export const papers = ['docs/cli.md', 'docs/exit-codes.md', 'docs/dialects.md', 'docs/reliability.md'];

/** The text of each generated section by its name. The texts come from the program's own tables. */
export async function generatedSections(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['exit codes', exitLines()],
    ['commands', await commandHelps()],
    ['dialects', dialectLines()],
    ['lists', listLines()],
    ['promises', promisesText()],
  ]);
}

/** Replaces each section between `<!-- generated: NAME -->` and `<!-- end -->`. @throws for an unknown name */
export function withSections(paper: string, sections: ReadonlyMap<string, string>): string {
  return paper.replaceAll(
    /(<!-- generated: ([a-z ]+) -->\n)[\s\S]*?(?=<!-- end -->)/g,
    (_, begin: string, name: string) => {
      const text = sections.get(name);
      if (text === undefined) throw new Error(`unknown section "${name}"`);
      return `${begin}\n${text}\n\n`;
    },
  );
}

/** The words of `Again` for a person. */
const runAgain: Readonly<Record<Again, string>> = {
  now: 'again',
  later: 'again later',
  'after fixing': 'again after fixing',
  never: '',
};

function exitLines(): string {
  const words = ({ again }: { again: Again }): string => (runAgain[again] === '' ? '' : ` *(${runAgain[again]})*`);
  return Object.values(exitCodes)
    .map((exit) => `- **${exit.code}**${words(exit)}: ${exit.meaning}`)
    .join('\n');
}

async function commandHelps(): Promise<string> {
  const own = ['## asset-export', '', '```text', programHelp(commands, 80).trimEnd(), '```'];
  const each = await Promise.all(
    commands.map(async ({ name, load }) => [`## ${name}`, '', ...commandLines(await load())]),
  );
  const shared = [
    '## Shared flags',
    '',
    jobNotes,
    ...jobFlagGroups().flatMap((group) => groupLines(group, fieldOfFlag)),
  ];
  return [own, ...each, shared].map((lines) => lines.join('\n')).join('\n\n');
}

/** What `--help` says of a command, with a line for each flag. */
function commandLines({ about, usage, examples, words, groups, notes }: Command): string[] {
  const shared = sharedText(groups);
  return [
    about,
    ...['', '```text', ...usage.map((line) => `asset-export ${line}`), ''],
    ...examples.map((each) => `asset-export ${each.line}  # ${each.about}`),
    '```',
    ...(words === undefined ? [] : ['', `- \`${words.name}\`: ${words.about}`]),
    ...groups.filter((group) => group.shared === undefined).flatMap((group) => groupLines(group)),
    ...(shared === undefined ? [] : ['', shared]),
    ...(notes === undefined ? [] : ['', notes]),
  ];
}

/** @param also what stands beside the name of a flag */
function groupLines({ title, flags }: FlagGroup, also: (flag: CommandFlag) => string = () => ''): string[] {
  return [
    '',
    `${title}:`,
    '',
    ...flags.map((flag) => `- \`${flagText(flag).trim()}\`${also(flag)}: ${inMarkdown(aboutFlag(flag))}`),
  ];
}

function fieldOfFlag({ name }: CommandFlag): string {
  const field = jobFields.find(({ flag }) => flag === name);
  return field === undefined ? '' : `, \`${field.path}\``;
}

/** Placeholders in angle brackets would be taken for HTML. */
function inMarkdown(text: string): string {
  return text.replaceAll(/[<*]/g, '\\$&');
}

function dialectLines(): string {
  return serviceDialects
    .map((each) => {
      const flags = each.flagsMany.length === each.flagsOne.length ? 'all three flags' : quoted(each.flagsMany);
      const { source, day } = each.priced;
      const calls = `\`${each.url ?? 'https://…'}${each.path}\`; ${quoted([each.one, each.many])}, ${each.params}; ${flags}`;
      return `- **${each.name}**: ${calls}; price ${each.creditsPerCall}, quota ${each.quota} (${source}, ${day})`;
    })
    .join('\n');
}

function listLines(): string {
  return serviceDialects
    .map(({ name, list }) => {
      const own = list.flagsOwner.filter((flag) => !list.flags.includes(flag));
      const facts = [
        ...listFilters.flatMap((filter) => (list[filter] === undefined ? [] : [`${filter} \`${list[filter]}\``])),
        ...(list.sort === undefined ? [] : [`sort ${list.sort.sortBy} ${list.sort.sortDirection}`]),
        `next ${list.next}`,
        `limit ${list.limit}`,
        `total ${list.total}${list.totalCounts === undefined ? '' : ` (${list.totalCounts})`}`,
        ...(list.ends === undefined ? [] : [`ends ${list.ends}`]),
        ...(list.flags.length === 0 ? [] : [`flags ${quoted(list.flags)}`]),
        ...(own.length === 0 ? [] : [`of an owner also ${quoted(own)}`]),
        `price ${list.creditsPerPage}`,
      ];
      return `- **${name}**: ${facts.join('; ')}`;
    })
    .join('\n');
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
