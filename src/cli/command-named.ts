import { ExportError } from '../lib/export-error.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { shownWord } from '../lib/addresses/shown-address.ts';
import type { CommandEntry } from './command.ts';
import { otherCommands, otherFlags } from './other-names.ts';

/** The command of a name. @throws {ExportError} `usage`, with the command that was probably meant */
export function commandNamed(commands: readonly CommandEntry[], name: string): CommandEntry {
  const found = commands.find((entry) => entry.name === (name === 'finalize' ? 'finalise' : name));
  if (found !== undefined) return found;
  const todo = 'asset-export --help lists the commands.';
  if (name.startsWith('-')) {
    const flag = name.replace(/^-+/, '');
    const known = Object.hasOwn(otherFlags, flag) ? otherFlags[flag] : undefined;
    const why = known === undefined ? `: the command comes first, as in asset-export run ${shownWord(name)} …` : '';
    throw new ExportError('usage', `unexpected flag ${shownWord(name)}${why}`, { todo: known ?? todo });
  }
  const names = commands.map((entry) => entry.name);
  const guess = (Object.hasOwn(otherCommands, name) ? otherCommands[name] : undefined) ?? nearestName(name, names);
  const meant = guess === undefined ? '' : `; did you mean ${guess}?`;
  throw new ExportError('usage', `unknown command: ${shownWord(name)}${meant}`, { todo });
}
