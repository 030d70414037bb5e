import { readFileSync } from 'node:fs';
import { exitCodes } from '../../lib/exit-codes.ts';
import { packageRoot } from '../../lib/packages/package-root.ts';
import type { Command, CommandEntry } from '../command.ts';
import { commandNamed } from '../command-named.ts';
import { commandHelp, helpPages, jobHelp, programHelp, widthOf } from '../output/help-text.ts';

/** The topic that is made from the job's schema. */
const jobTopic = 'job';

const pageTopics = Object.keys(helpPages);

/** `help`: what `--help` prints, and the fields of a job file. */
export function helpCommand(commands: readonly CommandEntry[]): Command {
  return {
    usage: ['help [COMMAND|TOPIC]'],
    about:
      'Prints the help of a command (as --help does), the fields of a job file, or a page of the docs as Markdown.',
    examples: [
      { line: 'help run', about: 'examples and flags of run' },
      { line: `help ${jobTopic}`, about: 'every field of a job file, its flag and its default' },
      { line: 'help operations | less', about: helpPages['operations'] ?? '' },
    ],
    words: {
      name: '[TOPIC]',
      about: `a command, ${jobTopic} (the fields of a job file), or a page: ${pageTopics.join(', ')}`,
      least: 0,
      most: 1,
      choices: [...commands.map(({ name }) => name), jobTopic, ...pageTopics],
    },
    groups: [],
    run: async ({ terminal: { stdout }, words: [topic] }) => {
      stdout.write(await helpOf(commands, topic, widthOf(stdout)));
      return exitCodes.complete.code;
    },
  };
}

async function helpOf(commands: readonly CommandEntry[], topic: string | undefined, columns: number): Promise<string> {
  if (topic === undefined) return programHelp(commands, columns);
  if (topic === jobTopic) return jobHelp((await import('../job-flags.ts')).jobFieldGroups(), columns);
  if (pageTopics.includes(topic))
    return readFileSync(new URL(`docs/${topic.replace(/\.md$/, '')}.md`, packageRoot), 'utf8');
  const help = commandHelp(await commandNamed(commands, topic, [jobTopic, ...pageTopics]).load(), columns);
  const page = `${topic}.md`;
  return pageTopics.includes(page) ? `${help}\nMore: asset-export help ${page}\n` : help;
}
