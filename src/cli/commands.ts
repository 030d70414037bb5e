import type { CommandEntry } from './command.ts';

export const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    about: 'export the sample data: no key, no network',
    load: async () => (await import('./commands/demo-command.ts')).demoCommand,
  },
  {
    name: 'init',
    about: 'write a commented job file, its schema and a key file',
    load: async () => (await import('./commands/init/init-command.ts')).initCommand,
  },
  {
    name: 'run',
    about: 'start an export, or resume it with the same command',
    load: async () => (await import('./commands/run-command.ts')).runCommand,
  },
  {
    name: 'enqueue',
    about: 'split the ids of an export into slices in its bucket, for many workers',
    load: async () => (await import('./commands/fleet/enqueue-command.ts')).enqueueCommand,
  },
  {
    name: 'work',
    about: 'export enqueued slices, alongside other workers',
    load: async () => (await import('./commands/fleet/work-command.ts')).workCommand,
  },
  {
    name: 'plan',
    about: 'read all ids and print the cost; sends nothing',
    load: async () => (await import('./commands/plan-command.ts')).planCommand,
  },
  {
    name: 'check',
    about: 'check everything that can be wrong before a run; spends nothing',
    load: async () => (await import('./commands/check-command.ts')).checkCommand,
  },
  {
    name: 'status',
    about: 'show the state of an export, also while it runs',
    load: async () => (await import('./commands/status-command.ts')).statusCommand,
  },
  {
    name: 'verify',
    about: 'check every file of an export against the manifest',
    load: async () => (await import('./commands/verify-command.ts')).verifyCommand,
  },
  {
    name: 'report',
    about: 'write an HTML report of an export, also while it runs',
    load: async () => (await import('./commands/report-command.ts')).reportCommand,
  },
  {
    name: 'get',
    about: 'print records as JSON lines',
    load: async () => (await import('./commands/get-command.ts')).getCommand,
  },
  {
    name: 'ids',
    about: 'list the ids of a collection, owner or creator, proven complete',
    load: async () => (await import('./commands/ids-command.ts')).idsCommand,
  },
  {
    name: 'holders',
    about: 'count the assets of each owner, of a collection or an export',
    load: async () => (await import('./commands/holders-command.ts')).holdersCommand,
  },
  {
    name: 'credits',
    about: 'show the credits booked per day, or correct them; sends nothing',
    load: async () => (await import('./commands/credits-command.ts')).creditsCommand,
  },
  {
    name: 'rehearse',
    about: 'dry run: your job with generated records; no credits, no network',
    load: async () => (await import('./commands/rehearse-command.ts')).rehearseCommand,
  },
  {
    name: 'schema',
    about: 'print columns, DDL and load statements, or the JSON Schema of job files',
    load: async () => (await import('./commands/schema/schema-command.ts')).schemaCommand,
  },
  {
    name: 'load',
    about: 'load a finished export into DuckDB or PostgreSQL',
    load: async () => (await import('./commands/load-command.ts')).loadCommand,
  },
  {
    name: 'diff',
    about: 'compare two exports: what was inserted, updated, deleted',
    load: async () => (await import('./commands/diff-command.ts')).diffCommand,
  },
  {
    name: 'rebuild',
    about: 'rewrite an export in other formats, tables or parts; no credits',
    load: async () => (await import('./commands/rebuild-command.ts')).rebuildCommand,
  },
  {
    name: 'prune',
    about: 'remove old exports from a folder of exports',
    load: async () => (await import('./commands/prune-command.ts')).pruneCommand,
  },
  {
    name: 'lake',
    about: 'check, publish or rebuild the Iceberg tables beside the nights',
    load: async () => (await import('./commands/lake-command.ts')).lakeCommand,
  },
  {
    name: 'serve',
    about: 'run the service locally: getAsset and getAssets on local records',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  {
    name: 'completion',
    about: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion-command.ts')).completionCommand(commands),
  },
  {
    name: 'help',
    about: 'print the help of a command, the fields of a job file, or a docs page',
    load: async () => (await import('./commands/help-command.ts')).helpCommand(commands),
  },
];
