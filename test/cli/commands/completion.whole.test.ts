import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { runHere } from '../../support/run-here.ts';
import { runProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

/** What a shell offers for the last of these words. */
type Offers = (script: string, words: readonly string[]) => Promise<string[]>;

const shells: Readonly<Record<string, Offers>> = {
  bash: (script, words) =>
    linesOf('bash', [
      '--norc',
      '-c',
      `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      _asset_export; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      ...words,
    ]),
  // A shell of its own behind a terminal, whose Tab key is pressed; what it lists comes in columns.
  // A shell of its own behind a terminal, whose Tab key is pressed; what it lists comes in columns, with escapes.
  zsh: async (script, words) => {
    const lines = await linesOf('zsh', ['-f', '-c', zshTab, 'zsh', script, words.join(' ')]);
    return lines.flatMap((line) => line.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, ' ').split(/\s+/));
  },
  fish: async (script, words) => {
    const lines = await linesOf('fish', ['--no-config', '-c', `source ${script}; complete -C '${words.join(' ')}'`]);
    return lines.map((line) => line.split('\t')[0] ?? '');
  },
};

const zshTab = String.raw`
  zmodload zsh/zpty
  zpty shell zsh -f -i
  zpty -w shell "PROMPT=; autoload -U compinit; compinit -D -u; source $1; zstyle ':completion:*' verbose no
    LISTMAX=1000; listed() { zle list-choices; zle -R; print do''ne }; zle -N listed; bindkey '^I' listed; print re''ady"
  zpty -r -m shell output '*ready*'
  zpty -n -w shell "$2"$'\t'
  zpty -r -m shell output '*done*'
  print -r -- $output`;

async function linesOf(file: string, args: readonly string[]): Promise<string[]> {
  const cwd = await tempFolder();
  const environment = { ...process.env, HOME: cwd, XDG_CONFIG_HOME: cwd, XDG_DATA_HOME: cwd };
  const child = spawn(file, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  return output.split('\n').filter((line) => line !== '');
}

async function scriptOf(shell: string): Promise<string> {
  const folder = await tempFolder();
  const { exit, stdout, stderr } = await runHere(['completion', shell]);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  const file = join(folder, 'completion');
  writeFileSync(file, stdout);
  return file;
}

describe.each(Object.entries(shells))('the completion of %s', (shell, offers) => {
  // Promise, The first hour: Completion works in real bash, zsh and fish
  it.runIf(has(shell))('offers commands, the flags of a command, and the values of a flag', async () => {
    const script = await scriptOf(shell);
    const names = commands.map(({ name }) => name);
    expect(await offers(script, ['asset-export', ''])).toEqual(expect.arrayContaining(names));
    expect(await offers(script, ['asset-export', 'run', '--show-'])).toEqual(
      expect.arrayContaining(['--show-fungible', '--show-collection-metadata', '--show-unverified-collections']),
    );
    const formats = await offers(script, ['asset-export', 'run', '--format', '']);
    expect(formats).toEqual(expect.arrayContaining(['parquet', 'csv', 'jsonl', 'raw']));
    expect(formats).not.toContain('--ids');
    expect(await offers(script, ['asset-export', 'completion', ''])).toEqual(
      expect.arrayContaining(Object.keys(shells)),
    );
  });

  it.runIf(has(shell))('offers no flag of another command', async () => {
    const offered = await offers(await scriptOf(shell), ['asset-export', 'status', '--']);
    expect(offered).toContain('--json');
    expect(offered).not.toContain('--ids');
  });
});

it('completion refuses a shell that it does not know, with the one that was meant', async () => {
  const { exit, stderr } = await runProgram(['completion', 'bahs']);
  expect(exit).toBe(2);
  expect(stderr).toContain('unknown shell: bahs; did you mean bash?');
});
