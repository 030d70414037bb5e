import { readFileSync } from 'node:fs';
import { exitCodes } from '../../lib/exit-codes.ts';
import { packageRoot } from '../../lib/packages/package-root.ts';
import type { Command, CommandEntry } from '../command.ts';
import { commandNamed } from '../command-named.ts';
import { commandHelp, groupsHelp, helpPages, pagesHelp, programHelp, widthOf } from '../output/help-text.ts';

/** Topics that are made from the job's schema. */
const tableTopics = ['job', 'flags'];

const pageTopics = Object.keys(helpPages);

/** `help`: what `--help` prints, and the fields of a job file. */
export function helpCommand(commands: readonly CommandEntry[]): Command {
  return {
    usage: ['help [COMMAND|TOPIC]'],
    about:
      'Prints the help of a command (as --help does), the fields of a job file, or a page of the docs as Markdown.',
    examples: [
      { line: 'help run', about: 'examples and flags of run' },
      { line: 'help flags', about: 'flags that commands share' },
      { line: 'help job', about: 'every field of a job file, its flag and its default' },
      { line: 'help operations | less', about: helpPages['operations'] ?? '' },
    ],
    words: {
      name: '[TOPIC]',
      about: `a command, flags (those that commands share), job (the fields of a job file), or a page: ${pageTopics.join(', ')}`,
      least: 0,
      most: 1,
      choices: [...commands.map(({ name }) => name), ...tableTopics, ...pageTopics],
    },
    groups: [],
    run: async ({ terminal: { stdout }, words: [topic] }) => {
      stdout.write(await helpOf(commands, topic, widthOf(stdout)));
      return exitCodes.complete.code;
    },
  };
}

async function helpOf(commands: readonly CommandEntry[], topic: string | undefined, columns: number): Promise<string> {
  if (topic === undefined) return `${programHelp(commands, columns)}\n${pagesHelp(columns)}`;
  if (tableTopics.includes(topic)) return tableHelp(topic, columns);
  if (pageTopics.includes(topic))
    return readFileSync(new URL(`docs/${topic.replace(/\.md$/, '')}.md`, packageRoot), 'utf8');
  const help = commandHelp(await commandNamed(commands, topic, [...tableTopics, ...pageTopics]).load(), columns);
  const page = `${topic}.md`;
  return pageTopics.includes(page) ? `${help}\nMore: asset-export help ${page}\n` : help;
}

async function tableHelp(topic: string, columns: number): Promise<string> {
  const { jobFieldGroups, jobFlagGroups, jobNotes } = await import('../job-flags.ts');
  if (topic === 'flags') return groupsHelp(jobNotes, jobFlagGroups(), columns);
  const head = 'Fields of a job file (YAML). asset-export init writes one with comments.';
  return groupsHelp(head, jobFieldGroups(), columns, ({ name }) => `  ${name}`);
}
