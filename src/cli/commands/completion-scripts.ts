import type { CommandFlag, CommandWords } from '../command.ts';

/** What a shell completes of one command. */
export interface CompletedCommand {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly CommandFlag[];
  readonly words: CommandWords | undefined;
}

const program = 'asset-export';
const help: CommandFlag = { name: 'help', about: 'examples and flags' };

/** Values that are paths; other texts and numbers complete to nothing. */
const pathValues: readonly (string | undefined)[] = ['FILE', 'DIR', 'PATH'];
const takesPath = ({ value, choices }: CommandFlag): boolean => choices === undefined && pathValues.includes(value);
const flagsOf = ({ flags }: CompletedCommand): readonly CommandFlag[] => [...flags, help];

/** Names and choices hold neither blanks nor quotes. */
const list = (names: readonly string[] = []): string => names.join(' ');

/** One word in single quotes, as bash and zsh read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A completion function of bash: readline offers files where it offers nothing else. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const cases = commands.flatMap((command) => {
    const values = command.flags.filter(({ value }) => value !== undefined);
    const others = values
      .filter((flag) => flag.choices === undefined && !takesPath(flag))
      .map(({ name }) => `--${name}`);
    return [
      `    ${command.name})`,
      `      words='${list(command.words?.choices)}'`,
      `      flags='${list(flagsOf(command).map(({ name }) => `--${name}`))}'`,
      '      case $previous in',
      ...values.flatMap(({ name, choices }) =>
        choices === undefined ? [] : [`        --${name}) values='${list(choices)}' ;;`],
      ),
      ...(others.length === 0 ? [] : [`        ${others.join(' | ')}) compopt +o default; return ;;`]),
      ...values.filter(takesPath).map(({ name }) => `        --${name}) return ;;`),
      '      esac',
      '      ;;',
    ];
  });
  return `# Completion of ${program} for bash, made by: ${program} completion bash
_asset_export() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} words= flags= values=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${list(commands.map(({ name }) => name))} --help --version' -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  if [[ -n $values ]]; then words=$values; elif [[ $current == -* ]]; then words=$flags; fi
  [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _asset_export ${program}
`;
}

/** A completion function of zsh: as a file of $fpath, or sourced behind compinit. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const cases = commands.flatMap((command) => [
    `    ${command.name})`,
    '      _arguments \\',
    ...flagsOf(command).map((flag) => `        ${quoted(zshFlag(flag))} \\`),
    `        ${quoted(command.words?.choices === undefined ? '*: :_files' : `*: :(${list(command.words.choices)})`)}`,
    '      ;;',
  ]);
  return `#compdef ${program}
# Completion of ${program} for zsh, made by: ${program} completion zsh
_${program}() {
  local -a commands
  commands=(
${commands.map(({ name, about }) => `    ${quoted(`${name}:${about}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_${program}" ]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

/** `*--format[about]:NAME:(csv jsonl)`: a flag with a value may be repeated. */
function zshFlag(flag: CommandFlag): string {
  const about = flag.about.replaceAll(/[\\[\]:]/g, String.raw`\$&`);
  if (flag.value === undefined) return `--${flag.name}[${about}]`;
  const values = takesPath(flag) ? '_files' : flag.choices === undefined ? ' ' : `(${list(flag.choices)})`;
  return `*--${flag.name}[${about}]:${flag.value.replaceAll(':', String.raw`\:`)}:${values}`;
}

/** Lines of `complete` for fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const text = (words: string): string => `'${words.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
  const complete = `complete -c ${program}`;
  const lines = commands.flatMap((command) => {
    const { name, about, words } = command;
    const within = `${complete} -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `${complete} -n __fish_use_subcommand -a ${name} -d ${text(about)}`,
      words?.choices === undefined ? `${within} -F` : `${within} -a ${text(list(words.choices))}`,
      ...flagsOf(command).map((flag) => `${within} -l ${flag.name}${fishValue(flag)} -d ${text(flag.about)}`),
    ];
  });
  return `# Completion of ${program} for fish, made by: ${program} completion fish\n${complete} -f\n${lines.join('\n')}\n`;
}

function fishValue(flag: CommandFlag): string {
  if (flag.value === undefined) return '';
  if (flag.choices !== undefined) return ` -x -a '${list(flag.choices)}'`;
  return takesPath(flag) ? ' -r -F' : ' -x';
}
