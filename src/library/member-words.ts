import { jobFields } from '../core/job/job-fields.ts';
import { ExportError } from '../lib/export-error.ts';
import { exportMembers, fieldOfMember } from './options.ts';

const everyFlag = ', asset-export help flags for every flag';

/** A command line, which stays as a shell takes it, or a flag. */
const commandOrFlag = /\basset-export (?:[^,:.\n]|[,:.]\S)*|--([a-z][a-z-]*)/g;

/**
 * Makes an error of the core name the members of a call where it names flags of the command: `formats`, `budget.creditsPerRun`,
 * `job.output.compression`.
 * @param members of the call, which may be called as other fields' flags are
 */
export function byMember(error: unknown, members: readonly string[] = exportMembers): unknown {
  if (!(error instanceof ExportError)) return error;
  const nameOf = (flag: string): string => {
    const member = flag.replaceAll(/-[a-z]/g, (at) => at.slice(1).toUpperCase());
    if (members.includes(member)) return member;
    const path = jobFields.find((field) => field.flag === flag)?.path;
    if (path === undefined) return `--${flag}`;
    const own = Object.entries(fieldOfMember).find(([, field]) => field === path)?.[0];
    return own ?? (path.startsWith('budget.') ? path : `job.${path}`);
  };
  const named = (text: string): string =>
    text
      .replace(everyFlag, '')
      .replaceAll(commandOrFlag, (found, flag: string | undefined) => (flag === undefined ? found : nameOf(flag)));
  const { message, todo } = error;
  return Object.assign(error, { message: named(message), ...(todo === undefined ? {} : { todo: named(todo) }) });
}

/** @throws what the work throws, in the words of the library */
export async function inCall<T>(work: () => Promise<T>, members?: readonly string[]): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw byMember(error, members);
  }
}

/** @throws what the items throw, in the words of the library */
export async function* eachInCall<T>(items: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  try {
    yield* items;
  } catch (error) {
    throw byMember(error);
  }
}
