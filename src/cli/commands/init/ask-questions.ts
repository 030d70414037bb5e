import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../../terminal.ts';
import { Writable } from 'node:stream';
import { keyProblem } from '../../../core/client/wire/service-address.ts';
import { formats } from '../../../core/formats/sink.ts';
import { ExportError } from '../../../lib/export-error.ts';

/** What `init` asks, by the flag that answers it. */
export interface InitQuestion {
  readonly flag: string;
  readonly text: string;
  /** An empty answer is none. */
  readonly isNeeded?: boolean;
}

const questions: readonly InitQuestion[] = [
  { flag: 'ids', text: 'Files of asset ids [ids/*.txt]: ' },
  { flag: 'url', text: 'Address of the service, without /v3/<key> [https://service.example]: ' },
  { flag: 'credits-per-day', text: 'Credits per UTC day, for all runs with this key [no limit]: ' },
  { flag: 'out', text: 'Folder of the export [out/export]: ' },
  { flag: 'format', text: `Formats: ${formats.join(', ')} [parquet]: ` },
];

/**
 * Asks what no flag has answered, each question until `accept` takes the answer, and what an answer makes necessary to ask. An empty answer
 * leaves the default.
 * @param first a question that the flags make necessary
 * Resolves to the key, which is not shown while it is typed.
 */
export async function askQuestions(
  { stdin: input, stderr: output }: Pick<Terminal, 'stdin' | 'stderr'>,
  answered: readonly string[],
  accept: (flag: string, text: string) => Promise<InitQuestion | undefined>,
  first?: InitQuestion,
): Promise<string> {
  let isSecret = false;
  const shown = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isSecret) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: shown, terminal: true });
  // Ctrl-C or Ctrl-D: nothing has been written yet.
  const ended = new AbortController();
  lines.once('close', () => {
    ended.abort();
  });
  const ask = (text: string): Promise<string> =>
    lines.question(text, { signal: ended.signal }).catch(() => {
      throw new ExportError('interrupted', 'stopped: nothing was written');
    });
  try {
    const open = [...(first === undefined ? [] : [first]), ...questions.filter(({ flag }) => !answered.includes(flag))];
    for (let question = open.shift(); question !== undefined; question = open.shift()) {
      const { flag, text, isNeeded = false } = question;
      const answer = (await ask(text)).trim();
      if (answer === '' && !isNeeded) continue;
      try {
        const next = answer === '' ? question : await accept(flag, answer);
        if (next !== undefined) open.unshift(next);
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        output.write(`${error.message}\n`);
        open.unshift(question);
      }
    }
    if (answered.includes('api-key-file')) return '';
    for (;;) {
      const asked = ask('API key, not shown; empty to add it later: ');
      isSecret = true;
      const key = (await asked).trim();
      isSecret = false;
      const problem = key === '' ? undefined : keyProblem(key);
      if (problem === undefined) return key;
      output.write(`\nthe API key ${problem}\n`);
    }
  } finally {
    isSecret = false;
    shown.write('\n');
    lines.close();
  }
}
