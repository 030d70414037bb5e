import { count, printable } from '../../../lib/format-text.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { base58Length, isAssetId } from '../../../lib/ids/asset-id.ts';
import { cleanId, wordsOf, whyInvalid } from '../entries.ts';
import { listKind } from '../../../places/export/export-folder.ts';
import { namesText } from './id-columns.ts';
import { jqFilters, jqTodo, listsIn } from './json-lists.ts';
import { listTodo } from './input-bytes.ts';
import { entriesLookedAt, type Sample, type SurveyOptions, sampleText } from './list-form.ts';

export interface NoList {
  /** Entries that were looked at. */
  readonly entries: number;
  readonly samples: readonly Sample[];
  /** Columns or members, of a table. */
  readonly names?: readonly string[];
}

/** What a file is instead of a list, and what to do. */
interface Likeness {
  readonly is: string;
  readonly todo: string;
}

const checkFile = 'Check the file: ids are base58 of 32 bytes, one a line, or in a column of CSV, Parquet or JSON.';

/** The error for a file of whose first entries none is an id. */
export function noList(options: SurveyOptions, found: NoList): ExportError {
  const { entries, samples, names } = found;
  const { input, column } = options;
  const like = likeness(options, found);
  const which =
    entries >= entriesLookedAt
      ? `none of the first ${count(entriesLookedAt)} entries is an asset id`
      : `${entries === 1 ? 'its only entry is not' : `none of its ${count(entries)} entries is`} an asset id`;
  const where = column === undefined || names === undefined ? '' : ` (column "${printable(column)}")`;
  const looks = like === undefined ? '' : `; it looks like ${like.is}`;
  const shown = samples.map(
    ({ line, text }) =>
      `\n  ${printable(sampleText({ at: `${input}:${line}`, text: text.slice(0, 200), reason: whyInvalid(cleanId(text)) }))}`,
  );
  return new ExportError('input', `${input}: ${which}${where}${looks}${shown.join('')}`, {
    todo: like?.todo ?? checkFile,
  });
}

function likeness(options: SurveyOptions, { entries, names }: NoList): Likeness | undefined {
  const text = options.head.toString('utf8').trimStart();
  const known = knownKind(text, options.input);
  if (known !== undefined) return known;
  const { filters, found } = jqFilters(listsIn(options.head), options.head);
  if (/^[[{]/.test(text) && filters.length > 0)
    return { is: `JSON with the list inside: ${found}`, todo: jqTodo(options.input, filters) };
  if (names !== undefined && (entries > 1 || options.column !== undefined)) {
    const todo =
      options.column === undefined
        ? `Name the column with the ids with --id-column or ids.column. The columns are: ${namesText(names)}.`
        : `Name another column with --id-column or ids.column. The columns are: ${namesText(names)}.`;
    return { is: 'a table without a column of ids', todo };
  }
  if (/^[[{]/.test(text)) return { is: 'JSON without ids', todo: checkFile };
  return likeWords(text);
}

const beginnings: readonly { readonly begins: RegExp; readonly is: string; readonly todo: string }[] = [
  {
    begins: /^version https:\/\/git-lfs/,
    is: 'a Git LFS pointer, not the file itself',
    todo: 'Fetch the file: git lfs pull.',
  },
  {
    begins: new RegExp(`^{\\s*"kind": "${listKind}"`),
    is: 'the account of a list of ids, not the list itself',
    todo: 'Name the list: its name is that of this file without .json.',
  },
  {
    begins: /^(\.\.\/)*\/?(\.git\/)?annex\/objects\//,
    is: 'a git-annex pointer, not the file itself',
    todo: 'Fetch the file: git annex get.',
  },
  {
    begins: /^(<!--[^]*?-->\s*)?<(!doctype html|html|head|body)\b/i,
    is: 'an HTML page, such as an error or a login',
    todo: 'Open it in a browser to see what it says, and download the list again.',
  },
  { begins: /^<(\?xml|\w+[\s>])/i, is: 'XML', todo: 'Save the ids as text, one a line, or as CSV.' },
  {
    begins: /^(insert into|create table|copy \S+ )/i,
    is: 'SQL',
    todo: 'Export the column with the ids as CSV, for example with COPY … TO … CSV HEADER.',
  },
];

const webAddress = /https?:\/\/\S*?[1-9A-HJ-NP-Za-km-z]{32,44}/;

function knownKind(text: string, input: string): Likeness | undefined {
  const known = beginnings.find(({ begins }) => begins.test(text));
  if (known !== undefined) return known;
  if (!webAddress.test(text)) return undefined;
  return {
    is: 'addresses of web pages, such as those of an explorer',
    todo: listTodo('If they are addresses of assets and not of wallets, cut out the ids', input, [
      "grep -oE '[1-9A-HJ-NP-Za-km-z]{32,44}'",
    ]),
  };
}

/** By its first lines. */
function likeWords(text: string): Likeness | undefined {
  const lines = text
    .split(/[\r\n]+/, 20)
    .map((line) => cleanId(line))
    .filter((line) => line !== '');
  const words = lines.flatMap((line) => wordsOf(line));
  const most = (is: (word: string) => boolean): boolean => words.filter(is).length * 2 > words.length;
  if (words.some((word) => isAssetId(word))) {
    return { is: 'a table', todo: 'Rename it to end in .csv, or use --ids-format csv.' };
  }
  if (most((word) => /^0x[0-9a-f]{40}$/i.test(word))) {
    return { is: 'addresses of another chain (0x…)', todo: checkFile };
  }
  if (most((word) => /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(word) && base58Length(word) === 64)) {
    return { is: 'transaction signatures', todo: 'List the ids of the assets, not of the transactions.' };
  }
  if (most((word) => /^[+-]?\d+(\.\d+)?$/.test(word))) return { is: 'numbers', todo: checkFile };
  if (most((word) => /^[0-9a-f]{64}$/i.test(word))) {
    return { is: 'keys in hexadecimal', todo: 'Write the ids as base58.' };
  }
  return undefined;
}
