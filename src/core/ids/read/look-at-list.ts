import { ExportError } from '../../../lib/export-error.ts';
import { checkText } from '../check-text.ts';
import type { IdInput } from '../id-input.ts';
import { inputBytes, type InputBytesOptions } from './input-bytes.ts';
import {
  entriesLookedAt,
  headBytes,
  type ListForm,
  type LookedAt,
  type ListRules,
  type ListSurvey,
  type SurveyOptions,
} from './list-form.ts';

/** How exactly it is known where the entries that are looked at end, in bytes. */
const stepBytes = 2048;

/**
 * Sees by its beginning how the ids of an input are found. A text that begins like JSON is JSON, whatever its name says.
 * @throws {ExportError} `input` when none of its first 1,000 entries is an id, or it is not clear which column has them
 */
export async function lookAtList(input: IdInput, rules: LookingRules): Promise<ListForm> {
  return (await surveyList(input, rules)).form;
}

type LookingRules = ListRules & Pick<InputBytesOptions, 'expected'>;

/** The same, and how much was read for it. @throws {ExportError} as `lookAtList` */
export async function surveyList(
  input: IdInput,
  rules: LookingRules,
): Promise<{
  readonly form: ListForm;
  /** How far it was read, decompressed; absent for Parquet. */
  readonly looked?: LookedAt;
}> {
  if (input.format === 'parquet') {
    const { surveyParquet } = await import('./read-parquet.ts');
    return { form: await surveyParquet(input, rules.column) };
  }
  let bytes = 0;
  let head = Buffer.alloc(0);
  let survey: ListSurvey | undefined;
  let hasMore = false;
  const push = (to: ListSurvey, piece: Uint8Array): void => {
    for (let from = 0; from < piece.length; from += stepBytes) {
      const step = piece.subarray(from, from + stepBytes);
      if (to.entries < entriesLookedAt) bytes += step.length;
      to.push(step);
    }
  };
  const begin = async (): Promise<ListSurvey> => {
    requireNoArchive(input.name, head);
    const begun = await openSurvey(input, { ...rules, input: input.name, head });
    push(begun, head);
    return begun;
  };
  for await (const piece of checkText(input, inputBytes(input, { expected: rules.expected }))) {
    if (survey === undefined) {
      head = Buffer.concat([head, piece]);
      if (head.length >= headBytes) survey = await begin();
    } else push(survey, piece);
    hasMore = survey !== undefined && survey.entries >= entriesLookedAt;
    if (hasMore) break;
  }
  survey ??= await begin();
  if (!hasMore) survey.end();
  const { entries } = survey;
  return { form: await survey.form(), looked: { entries, bytes, isWhole: entries < entriesLookedAt } };
}

/** @throws {ExportError} `input` for a tar archive: lines of the files in it would be read, and its heads not */
function requireNoArchive(input: string, head: Buffer): void {
  if (head.toString('latin1', 257, 262) !== 'ustar') return;
  throw new ExportError('input', `${input} is a tar archive, not text`, {
    todo: 'Unpack it, and name the files in it.',
  });
}

/** Each kind of list loads what reads it: most lists are lines. */
async function openSurvey({ format }: IdInput, options: SurveyOptions): Promise<ListSurvey> {
  const first = options.head.toString('latin1').trimStart().charAt(0);
  if (first === '[' || first === '{' || format === 'json' || format === 'jsonl') {
    const { surveyJson } = await import('./survey-json.ts');
    return surveyJson(options);
  }
  if (format === 'csv') {
    const { surveyCsv } = await import('./read-csv.ts');
    return surveyCsv(options);
  }
  const { surveyLines } = await import('./read-lines.ts');
  return surveyLines(options);
}
