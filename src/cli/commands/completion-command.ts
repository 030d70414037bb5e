import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { nearestName } from '../../lib/format-text.ts';
import { shownWord } from '../../lib/addresses/shown-text.ts';
import type { Command, CommandEntry } from '../command.ts';
import { bashCompletion, type CompletedCommand, fishCompletion, zshCompletion } from './completion-scripts.ts';

const scripts: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};
const shells = Object.keys(scripts);

/** `completion`: commands, flags and their values at the Tab key, from the table that help is made of. */
export function completionCommand(commands: readonly CommandEntry[]): Command {
  return {
    usage: ['completion bash|zsh|fish'],
    about: 'Prints a script that completes commands, flags and values in your shell.',
    examples: [
      { line: 'completion bash > ~/.local/share/bash-completion/completions/asset-export', about: 'bash' },
      { line: 'completion zsh > "${fpath[1]}/_asset-export"', about: 'zsh, with compinit in ~/.zshrc' },
      { line: 'completion fish > ~/.config/fish/completions/asset-export.fish', about: 'fish' },
    ],
    words: { name: 'SHELL', about: shells.join(', '), least: 1, most: 1, choices: shells },
    groups: [],
    notes: 'For the current bash session only: eval "$(asset-export completion bash)"',
    run: async ({ terminal, words: [shell = ''] }) => {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
      if (script === undefined) {
        const near = nearestName(shell, shells);
        throw new ExportError(
          'usage',
          `unknown shell: ${shownWord(shell)}${near === undefined ? '' : `; did you mean ${near}?`}`,
          {
            todo: `completion takes ${shells.join(', ')}.`,
          },
        );
      }
      terminal.stdout.write(script(await completed(commands)));
      return exitCodes.complete.code;
    },
  };
}

function completed(commands: readonly CommandEntry[]): Promise<CompletedCommand[]> {
  return Promise.all(
    commands.map(async ({ name, about, load }) => {
      const { groups, words } = await load();
      return { name, about, flags: groups.flatMap(({ flags }) => flags), words };
    }),
  );
}
