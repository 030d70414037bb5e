import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { commandHelp, programHelp } from '../../src/cli/output/help-text.ts';
import { wrapText } from '../../src/lib/format-text.ts';
import { exitCodes } from '../../src/lib/exit-codes.ts';
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

  it('tells each flag once', async () => {
    const flags = (await load()).groups.flatMap((group) => group.flags.map((flag) => flag.name));
    expect(flags).toEqual([...new Set(flags)]);
  });
});

it.each(commands.filter(({ name }) => ['run', 'plan'].includes(name)))(
  '$name takes every job field as a flag',
  async ({ load }) => {
    const help = commandHelp(await load(), 80);
    for (const { flag } of jobFields) expect(help).toMatch(new RegExp(`^ {2}--${flag}( |$)`, 'm'));
  },
);

it('the help of the program lists commands and exit codes', () => {
  const help = programHelp(commands, 80);
  for (const { name } of commands) expect(help).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  for (const { code } of Object.values(exitCodes)) expect(help).toMatch(new RegExp(`^ {2} *${code} {2}`, 'm'));
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

it('a text is broken at blanks alone', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapText('averylongword b', 5)).toEqual(['averylongword', 'b']);
});
