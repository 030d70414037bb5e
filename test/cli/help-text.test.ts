import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { jobFlagGroups } from '../../src/cli/job-flags.ts';
import { commandHelp, groupsHelp, programHelp } from '../../src/cli/output/help-text.ts';
import { wrapText } from '../../src/lib/format-text.ts';
import { jobFields } from '../../src/core/job/job-fields.ts';

describe.each(commands)('the help of $name', ({ name, load }) => {
  it('begins with examples, then says what it does, and fits 80 columns', async () => {
    const command = await load();
    const help = commandHelp(command, 80);
    expect(help).toMatch(new RegExp(`^Examples:\\n  asset-export ${name} `));
    const [about = ''] = wrapText(command.about, 80);
    expect(help.indexOf(`\n\n${about}\n`)).toBeGreaterThan(0);
    expect(help.indexOf(about)).toBeLessThan(help.indexOf('\n  --'));
    // An example is one line, so that it can be copied.
    const wide = help.split('\n').filter((line) => line.length > 80 && !line.startsWith('  asset-export '));
    expect(wide).toEqual([]);
  });

  it('shows no default where there is none', async () => {
    expect(commandHelp(await load(), 80)).not.toContain('[]');
  });

  it('has at most 60 lines, and names the shared flags that the command does not take', async () => {
    const command = await load();
    const help = commandHelp(command, 80);
    expect(help.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
    const all = command.groups.flatMap(({ shared }) => shared ?? []).map(({ name: flag }) => flag);
    const own = command.groups.flatMap(({ flags }) => flags).map(({ name: flag }) => flag);
    for (const flag of all.filter((each) => !own.includes(each)))
      expect(help.replaceAll(/\s+/g, ' ')).toContain(`--${flag}`);
  });

  it('tells each flag once', async () => {
    const flags = (await load()).groups.flatMap((group) => group.flags.map((flag) => flag.name));
    expect(flags).toEqual([...new Set(flags)]);
  });
});

it.each(commands.filter(({ name }) => ['run', 'plan'].includes(name)))(
  '$name takes every job field as a flag, which is explained once',
  async ({ load }) => {
    const { groups } = await load();
    const flags = groups.flatMap((group) => group.flags.map(({ name }) => name));
    expect(flags).toEqual(expect.arrayContaining(jobFields.map(({ flag }) => flag)));
    const help = groupsHelp('', jobFlagGroups(), 80);
    for (const { flag } of jobFields) expect(help).toMatch(new RegExp(`^ {2}--${flag}( |$)`, 'm'));
  },
);

it('the help of the program is one screen, and each command a line of it', () => {
  const lines = programHelp(commands, 80).trimEnd().split('\n');
  for (const { name, about } of commands) expect(lines).toContain(`  ${name.padEnd(12)}${about}`);
  expect(lines.length).toBeLessThanOrEqual(45);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});

it('a text is broken at blanks alone', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapText('averylongword b', 5)).toEqual(['averylongword', 'b']);
});
