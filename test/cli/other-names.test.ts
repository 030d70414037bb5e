import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { commandNamed, otherCommands, otherFlags } from '../../src/cli/command-named.ts';
import { parseArguments } from '../../src/cli/parse-arguments.ts';
import { runHere } from '../support/run-here.ts';

const names = commands.map(({ name }) => name);

describe('the names of other tools', () => {
  it('stand for commands that there are, and are none themselves', () => {
    expect(Object.values(otherCommands).filter((name) => !names.includes(name))).toEqual([]);
    expect(Object.keys(otherCommands).filter((name) => names.includes(name))).toEqual([]);
  });

  it.each(['finalise', 'finalize'])('%s ends with exit 2 and the line to write', (name) => {
    expect(() => commandNamed(commands, name)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: `unknown command: ${name}; did you mean work?`,
        todo: 'asset-export work job.yaml completes an export whose slices are done.',
      }),
    );
  });

  it('load --sql ends with exit 2 and the line to write', async () => {
    const load = await commandNamed(commands, 'load').load();
    expect(() => parseArguments('load', load, ['out', '--to', 'duckdb:a', '--sql'])).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: 'unknown flag for load: --sql',
        todo: 'Write asset-export schema --of EXPORT --for NAME: it prints the script that loads the export.',
      }),
    );
  });

  it.each(['append', 'upsert', 'merge'])('load --mode %s ends with exit 2 and the mode to write', async (mode) => {
    const { exit, stderr } = await runHere(['load', 'out', '--to', 'duckdb:a', '--mode', mode]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(RegExp(`--mode ${mode} was removed\\n.*Write --mode replace`));
  });

  it('of flags are explained by commands and flags that there are', async () => {
    const all = await Promise.all(commands.map(({ load }) => load()));
    const flags = all.flatMap(({ groups }) => groups.flatMap((group) => group.flags.map((flag) => `--${flag.name}`)));
    const text = Object.values(otherFlags).join('\n');
    const known = [...flags, '--version'];
    expect([...text.matchAll(/--[a-z-]+/g)].map(([flag]) => flag).filter((flag) => !known.includes(flag))).toEqual([]);
    expect([...text.matchAll(/asset-export ([a-z]+)/g)].filter(([, name = '']) => !names.includes(name))).toEqual([]);
  });

  it.each(names)('of flags stand in the way of no flag of %s', async (name) => {
    const entry = commands.find((each) => each.name === name);
    const command = await entry?.load();
    if (command === undefined) throw new Error(name);
    const own = command.groups.flatMap((group) => group.flags).filter((flag) => Object.hasOwn(otherFlags, flag.name));
    const words = Array.from({ length: command.words?.least ?? 0 }, () => 'word');
    for (const flag of own) {
      const given = flag.value === undefined ? [`--${flag.name}`] : [`--${flag.name}`, '1'];
      expect(() => parseArguments(name, command, [...words, ...given])).not.toThrow();
    }
    for (const flag of Object.keys(otherFlags).filter((each) => !own.some((mine) => mine.name === each))) {
      const dash = flag.length === 1 ? '-' : '--';
      expect(() => parseArguments(name, command, [...words, `${dash}${flag}`])).toThrow(`unknown flag for ${name}`);
    }
  });
});
