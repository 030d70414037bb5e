import type { Command } from './command.ts';

/** A command by name: loaded when it is used, so that none waits for the libraries of another. */
export interface CommandEntry {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly about: string;
  readonly load: () => Promise<Command>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'run',
    about: 'start an export, or continue it: the same command either way',
    load: async () => (await import('./run-command.ts')).runCommand,
  },
  {
    name: 'plan',
    about: 'read all ids and print what an export would cost; sends nothing',
    load: async () => (await import('./plan-command.ts')).planCommand,
  },
  {
    name: 'status',
    about: 'where an export stands, also while it runs',
    load: async () => (await import('./status-command.ts')).statusCommand,
  },
  {
    name: 'verify',
    about: 'read every file of an export again and compare it with the manifest',
    load: async () => (await import('./verify-command.ts')).verifyCommand,
  },
  {
    name: 'get',
    about: 'records to stdout as JSON lines',
    load: async () => (await import('./get-command.ts')).getCommand,
  },
  {
    name: 'credits',
    about: 'what is booked by day, and setting a day to what the provider says; sends nothing',
    load: async () => (await import('./credits-command.ts')).creditsCommand,
  },
  {
    name: 'rehearse',
    about: 'run a job against invented answers: no credits, no network',
    load: async () => (await import('./rehearse-command.ts')).rehearseCommand,
  },
  {
    name: 'schema',
    about: 'the columns; DDL and load statements for a warehouse; the JSON Schema of job files',
    load: async () => (await import('./schema-command.ts')).schemaCommand,
  },
  {
    name: 'load',
    about: 'load a finished export into DuckDB or PostgreSQL',
    load: async () => (await import('./load-command.ts')).loadCommand,
  },
  {
    name: 'serve',
    about: 'answer getAsset and getAssets from local records, as the service does',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
];
