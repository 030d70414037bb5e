/** Commands of a block that needs no shell. */
export interface PlainCommands {
  readonly environment: Readonly<Record<string, string>>;
  /** Each command's words after `asset-export`. */
  readonly commands: readonly (readonly string[])[];
}

/**
 * The commands of a block of plain `asset-export …` lines; undefined where only a shell does what the block says: another program, a
 * pipe, a redirect, a variable or a pattern. Lines before them may export variables of the program or of AWS.
 */
export function plainCommands(script: string): PlainCommands | undefined {
  const environment: Record<string, string> = {};
  const commands: string[][] = [];
  for (const line of script.replaceAll('\\\n', ' ').split('\n')) {
    const words = wordsOf(line);
    if (words === undefined) return undefined;
    const [first, second = '', ...rest] = words;
    if (first === undefined) continue;
    const [, name, value = ''] = /^((?:ASSET_EXPORT|AWS)_\w+)=(.*)$/.exec(second) ?? [];
    if (first === 'export' && name !== undefined && rest.length === 0 && commands.length === 0)
      environment[name] = value;
    else if (first === 'asset-export') commands.push(words.slice(1));
    else return undefined;
  }
  return commands.length === 0 ? undefined : { environment, commands };
}

/** The words of a line, without its comment; undefined where a shell would change more than quotes. */
function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== '' && !rest.startsWith('#')) {
    const [word = ''] = /^(?:'[^']*'|"[^"$`\\]*"|[\w./:=,@%+-])+(?=\s|$)/.exec(rest) ?? [];
    if (word === '') return undefined;
    words.push(
      word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
    );
    rest = rest.slice(word.length).trimStart();
  }
  return words;
}
