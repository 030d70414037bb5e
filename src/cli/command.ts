import type { Terminal } from './stop-signals.ts';

/** A flag of a command: what the parser takes, and what help and documents say. */
export interface CommandFlag {
  /** Without dashes. */
  readonly name: string;
  /** What its value is called; absent for a switch; in brackets for a number that may be left out. */
  readonly value?: string;
  /** The values that it takes, where these are few: for shell completion. */
  readonly choices?: readonly string[];
  readonly about: string;
  /** What holds when the flag is not given, in words. */
  readonly standard?: string;
}

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly CommandFlag[];
  /** Of flags that many commands share: all of this title. `help flags` explains them once. */
  readonly shared?: readonly CommandFlag[];
}

/** What a command takes as words: `standing` is whatever `status` reports on, `nights` a folder of exports, `either` one of both. */
export type WordKind = 'job' | 'export' | 'nights' | 'either' | 'standing' | 'id';

/** The words of a command that are no flags: `<out>`, `[job]`. */
export interface CommandWords {
  readonly name: string;
  readonly about: string;
  readonly least: number;
  readonly most: number;
  /** What they name, where that can be looked at. */
  readonly is?: WordKind;
  /** The words that it takes, where these are few. */
  readonly choices?: readonly string[];
}

/** One command: everything its help shows, and what it does. */
export interface Command {
  /** Without `asset-export`. */
  readonly usage: readonly string[];
  /** What it does, for its own help. */
  readonly about: string;
  readonly examples: readonly { readonly line: string; readonly about: string }[];
  readonly words?: CommandWords;
  readonly groups: readonly FlagGroup[];
  readonly notes?: string;
  /** Resolves to the exit status. */
  run(line: CommandLine): Promise<number>;
}

/** The headings under which `--help` lists the commands. */
export const commandGroups = {
  export: 'An export',
  nights: 'Every night',
  warehouses: 'Warehouses',
  machines: 'Many machines, the service, this program',
} as const;

/** A command by name: loaded when it is used, so that none waits for the libraries of another. */
export interface CommandEntry {
  readonly name: string;
  readonly group: keyof typeof commandGroups;
  /** One line, for the list of commands. */
  readonly about: string;
  readonly load: () => Promise<Command>;
}

/** The arguments of one command line. */
export interface CommandArguments {
  readonly words: readonly string[];
  /** The value of a flag, the last one where it was repeated. */
  text(flag: string): string | undefined;
  /** Every value of a flag, as given. */
  texts(flag: string): readonly string[];
  isOn(flag: string): boolean;
  /** A flag as the parser left it: a text, a boolean, a list of texts, or undefined. */
  value(flag: string): unknown;
}

/** The arguments of one command line, and the terminal on which it was typed. */
export interface CommandLine extends CommandArguments {
  readonly terminal: Terminal;
}

/** The folder of an export, for commands that take one. */
export const exportWords: CommandWords = {
  name: '<out>',
  about: 'folder or bucket of the export (its --out or output.dir)',
  least: 1,
  most: 1,
  is: 'export',
};
