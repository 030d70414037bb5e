import { environmentName } from '../core/job/job-fields.ts';
import type { Job } from '../core/job/job-schema.ts';
import { commandLine } from '../lib/addresses/shown-path.ts';
import type { CommandArguments, CommandFlag } from './command.ts';
import type { Terminal } from './terminal.ts';

/**
 * The same words and flags for another command, as a line that can be typed.
 * @param flags that the other command has; all others are left out
 */
export function sameLine(command: string, args: CommandArguments, flags: readonly CommandFlag[]): string {
  const given = flags.flatMap(({ name }) => {
    const value = args.value(name);
    if (value === undefined) return [];
    if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
    // Alone, a value with a dash would be read as a flag.
    return args
      .texts(name)
      .flatMap((text) => (text.startsWith('-') && text !== '-' ? [`--${name}=${text}`] : [`--${name}`, text]));
  });
  return commandLine(command, ...args.words, ...given);
}

/** The endpoint of a job's bucket, where commands that take no job do not find it in the environment. */
export function endpointToName({ output }: Job, { env }: Pick<Terminal, 'env'>): string | undefined {
  return env[environmentName('out-endpoint')] === output.endpoint ? undefined : output.endpoint;
}
