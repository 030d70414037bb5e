import { isAssetId, longestId, shortestId } from '../../../lib/ids/asset-id.ts';
import { carriageReturn, lineFeed } from '../../../lib/ascii.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { asBuffer, type ByteScanner, type ByteSpan, carryBytes, splitLines } from '../../../lib/scan/split-lines.ts';
import { cleanId, holdsId, wordsOf } from '../entries.ts';
import type { EntryBlocks } from './entry-blocks.ts';
import { listTodo } from './input-bytes.ts';
import {
  areRows,
  entriesLookedAt,
  type ListForm,
  type ListSurvey,
  type Sample,
  type SurveyOptions,
  mostSamples,
} from './list-form.ts';

/** Longest line that may still hold an id among blanks, in bytes. */
const longestLine = 65_536;

const onOwnLines = "tr -s ', \\t' '\\n'";

/** Reads an id a line, or several ids on a line. @throws {ExportError} `input` for several ids on a line that is too long */
export function readLines(input: string, entries: EntryBlocks): ByteScanner {
  return splitLines({
    longest: longestLine,
    onStart: (span) => addUsual(entries, span),
    onLine(span) {
      const { bytes, start, end, line } = span;
      if (span.cut) addCut(input, entries, span);
      else if (entries.findId(bytes, start, end)) entries.addFound(line);
      else if (end > start) addWords(entries, bytes.toString('utf8', start, end), line);
    },
  });
}

/** A line that is not one id: several ids, or one entry. */
function addWords(entries: EntryBlocks, text: string, line: number): void {
  for (const word of entriesOn(text)) entries.addText(word, line);
}

/** The entries of a line: its words where two of them are ids, else the line itself. */
function entriesOn(text: string): string[] {
  const words = text.length > 2 * shortestId ? wordsOf(text) : [];
  return words.filter(holdsId).length > 1 ? words : [text];
}

function addCut(input: string, entries: EntryBlocks, { bytes, start, end, line }: ByteSpan): void {
  if (entriesOn(bytes.toString('utf8', start, end)).length > 1) {
    throw new ExportError('input', `${input}:${line}: several ids on a line of more than ${longestLine} bytes`, {
      todo: listTodo('Put each on a line of its own', input, [onOwnLines]),
    });
  }
  const beginning = cleanId(bytes.toString('utf8', start, Math.min(end, start + 1000)));
  entries.addInvalid(beginning, line, `a line of more than ${longestLine} bytes`);
}

/** Takes a line that holds nothing but an id of a usual length: its digits are read once, to check, to hash and to pass over. */
function addUsual(entries: EntryBlocks, span: ByteSpan): boolean {
  const { bytes, start, line } = span;
  // The end is guessed: where it is not the first line break of the line, the check fails.
  const end = isLineBreakAt(bytes, start + longestId) ? start + longestId : start + longestId - 1;
  if (!isLineBreakAt(bytes, end) || !entries.findId(bytes, start, end)) return false;
  span.end = end;
  entries.addFound(line);
  return true;
}

function isLineBreakAt(bytes: Uint8Array, index: number): boolean {
  if (index >= bytes.length) return false;
  const byte = bytes[index];
  return byte === lineFeed || byte === carriageReturn;
}

/** Reads ids between blanks, commas and line breaks, however long a line is. */
export function readWords(entries: EntryBlocks): ByteScanner {
  return splitAt(separators, (text, line, cut) => {
    if (cut) entries.addInvalid(cleanId(text.slice(0, 1000)), line, `a word of more than ${longestLine} bytes`);
    else entries.addText(text, line);
  });
}

const separators = tableOf(' \t,;|"\'\r\n');
const lineBreaks = tableOf('\r\n');

/** 1 for each of these bytes. */
function tableOf(bytes: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(bytes)) table[byte] = 1;
  return table;
}

/** Cuts text where one of the bytes stands that a table names. `splitLines` is for many lines: V8 inlines what it calls. */
function splitAt(table: Uint8Array, onWord: (text: string, line: number, cut: boolean) => void): ByteScanner {
  const span: ByteSpan = { bytes: Buffer.alloc(0), start: 0, end: 0, line: 1, cut: false };
  const carry = carryBytes(longestLine);
  let line = 1;
  let afterReturn = false;
  const endWord = (bytes: Buffer, start: number, end: number): void => {
    if (carry.isEmpty() && end - start <= longestLine) {
      if (end > start) onWord(bytes.toString('utf8', start, end), line, false);
      return;
    }
    carry.add(bytes, start, end);
    carry.moveTo(span);
    onWord(span.bytes.toString('utf8', span.start, span.end), line, span.cut);
  };
  return {
    push(pushed) {
      const bytes = asBuffer(pushed);
      let start = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at] ?? 0;
        if (table[byte] === 1) {
          endWord(bytes, start, at);
          start = at + 1;
          if (byte === carriageReturn || (byte === lineFeed && !afterReturn)) line += 1;
        }
        afterReturn = byte === carriageReturn;
      }
      carry.add(bytes, start, bytes.length);
    },
    end() {
      endWord(Buffer.alloc(0), 0, 0);
    },
  };
}

/** Looks at the beginning of a text without columns. */
export function surveyLines(options: SurveyOptions): ListSurvey {
  const { input, head } = options;
  const isOneLine = !/[\r\n]/.test(head.toString('latin1')) && head.length >= longestLine;
  const kind = isOneLine && entriesOn(head.toString('utf8')).length > 1 ? 'words' : 'lines';
  const samples: Sample[] = [];
  const lengths: number[] = [];
  let ids = 0;
  let entries = 0;
  let hasSeveral = false;
  const add = (text: string, line: number): void => {
    const cleaned = isAssetId(text) ? text : cleanId(text);
    if (cleaned === '' || entries >= entriesLookedAt) return;
    entries += 1;
    if (isAssetId(cleaned)) ids += 1;
    else if (samples.length < mostSamples) samples.push({ line, text: cleaned });
  };
  const addLine = (text: string, line: number): void => {
    const isOne = isAssetId(text);
    if (!isOne && cleanId(text) === '') return;
    lengths.push(isOne ? 1 : wordsOf(text).length);
    const words = entriesOn(text);
    hasSeveral ||= words.length > 1;
    for (const word of words) add(word, line);
  };
  const scanner = kind === 'words' ? splitAt(separators, add) : splitAt(lineBreaks, addLine);
  return {
    ...scanner,
    get entries() {
      return entries;
    },
    async form(): Promise<ListForm> {
      if (entries > 0 && ids === 0) {
        const { noList } = await import('./no-list.ts');
        throw noList(options, { entries, samples });
      }
      if (hasSeveral && areRows(lengths)) {
        const [words = 0] = lengths;
        throw new ExportError('input', `${input}: ${words} ids on each line: a list, or a table with columns?`, {
          todo: `${listTodo('If it is a list, put each id on a line of its own', input, [onOwnLines])}. If it is a table, give it a first line with names and use --ids-format csv --id-column NAME.`,
        });
      }
      return { kind };
    },
  };
}
