import { isAlias, isMap, isNode, isPair, isScalar, isSeq, LineCounter, type Pair, parseDocument, visit } from 'yaml';
import { ExportError } from '../../lib/export-error.ts';
import type { z } from 'zod';
import { numberIn, nearestName } from '../../lib/format-text.ts';
import { shownWord } from '../../lib/addresses/shown-text.ts';

/** A job file's value, before the schema sees it, and where its fields stand. */
export interface JobFile {
  readonly value: unknown;
  /** `jobs/nightly.yaml:12:3` for a path in the value, or of the nearest field above it. */
  whereIs(path: readonly PropertyKey[]): string;
}

/** What a file of fields is, in messages. */
interface FieldFile {
  readonly is: string;
  /** Some of its fields. */
  readonly fields: string;
  readonly todo: string;
}

const jobFile: FieldFile = {
  is: 'a job file',
  fields: 'ids, service, output',
  todo: 'asset-export init writes an example.',
};

/** Parses YAML (JSON is YAML too) and replaces `${NAME}` and `${NAME:-default}` inside strings. @throws {ExportError} `usage` */
export function parseJobFile(
  text: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  file: FieldFile = jobFile,
): JobFile {
  try {
    return parseFields(text, name, environment, file);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ExportError('usage', `${name}: its values are nested too deep`, { todo: file.todo, cause });
  }
}

function parseFields(
  text: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  { is, fields, todo }: FieldFile,
): JobFile {
  const lines = new LineCounter();
  // Its own check of unique keys takes quadratic time.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const where = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  requireYaml(document, where);
  if (document.contents !== null && !isMap(document.contents)) {
    throw new ExportError('usage', `${name}: ${is} must be a map of fields (${fields}), not a list or a text`, {
      todo,
    });
  }
  fillIn(document, environment, where);
  return {
    value: valueOf(document, name),
    whereIs: (path) => where(offsetOf(document.contents, path)),
  };
}

function valueOf(document: Document, name: string): unknown {
  try {
    return (document.toJS() as unknown) ?? {};
  } catch (cause) {
    // Aliases of aliases: a few lines that stand for millions of values.
    throw new ExportError('usage', `${name}: its YAML aliases stand for too much`, {
      todo: 'Write the values where they are used.',
      cause,
    });
  }
}

type Document = ReturnType<typeof parseDocument>;

/** @throws {ExportError} `usage` with the first place that is not YAML, or not what its author meant by it */
function requireYaml(document: Document, where: (offset: number) => string): void {
  const [mistake] = document.errors;
  visit(document, {
    // `from: *.txt` is an alias to YAML, whether it parses or not.
    Alias: (_, node, path) => {
      const text = `*${node.source}`;
      const named = node.resolve(document);
      if (named !== undefined && path.includes(named))
        throw new ExportError('usage', `${where(node.range?.[0] ?? 0)}: ${text} is an alias of what it is in`, {
          todo: 'Write the value out.',
        });
      if (named !== undefined) return;
      throw new ExportError('usage', `${where(node.range?.[0] ?? 0)}: ${text} is a YAML alias, not a text`, {
        todo: `Quote it: "${text}"`,
      });
    },
    Scalar: (_, node) => {
      const [start, end] = node.range ?? [0];
      if (mistake?.code !== 'MISSING_CHAR' || end !== mistake.pos[0] || !node.type?.startsWith('QUOTE')) return;
      throw new ExportError('usage', `${where(start)}: the quote opened here is not closed`, {
        todo: 'Close the quote.',
      });
    },
    Map: (_, { items }) => {
      const [twice] = repeatedKeys(items);
      if (mistake === undefined && twice !== undefined) throw invalidYaml(where(twice), 'duplicate key');
    },
  });
  if (mistake !== undefined) throw invalidYaml(where(mistake.pos[0]), mistake.message);
}

function invalidYaml(where: string, why: string): ExportError {
  return new ExportError('usage', `${where}: ${why}`, { todo: 'Fix the YAML at this position.' });
}

/** Where the keys stand that a map has already. */
function* repeatedKeys(items: readonly Pair[]): Generator<number> {
  const known = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (known.has(key.value)) yield key.range?.[0] ?? 0;
    known.add(key.value);
  }
}

/** Replaces the variables in all texts. @throws {ExportError} `usage` with every one that cannot be replaced */
function fillIn(
  document: Document,
  environment: Readonly<Record<string, string | undefined>>,
  where: (offset: number) => string,
): void {
  const mistakes: ExportError[] = [];
  visit(document, {
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'string') return;
      try {
        const value = interpolate(node.value, environment, where(node.range?.[0] ?? 0));
        if (value !== node.value) node.value = plainValue(value, node.type);
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        mistakes.push(error);
      }
    },
  });
  const [first] = mistakes;
  if (first === undefined) return;
  if (mistakes.length === 1) throw first;
  const all = mistakes.map(({ message, todo }) => `${message}. ${todo ?? ''}`);
  throw new ExportError('usage', `the job has errors:\n  ${all.join('\n  ')}`);
}

/** An unquoted `${N}` that comes out as a number or a boolean is one, as it would be had it been written there. */
function plainValue(text: string, style: string | undefined): unknown {
  if (style !== 'PLAIN') return text;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text;
}

/** `${NAME}` or `${NAME:-default}`; the closing brace is absent in what only begins so. */
const variable = /\$\{([^}]*)(\}?)/g;

function interpolate(text: string, environment: Readonly<Record<string, string | undefined>>, where: string): string {
  return text.replaceAll(variable, (all: string, inner: string, close: string) => {
    const [, name, fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
    if (name === undefined || close === '' || inner.includes('${')) {
      const nested = inner.includes('${');
      throw new ExportError(
        'usage',
        `${where}: ${nested ? `${all}… nests a variable in a variable` : `${all} is not a valid variable`}`,
        { todo: `Write \${NAME} or \${NAME:-default}${nested ? ', without a variable in the default' : ''}.` },
      );
    }
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
    if (fallback !== undefined) return fallback;
    throw new ExportError('usage', `${where}: the environment variable ${name} is not set`, {
      todo: `Set it, or give a default: \${${name}:-value}.`,
    });
  });
}

/** The offset of the node at `path`, or of the deepest one above it. */
function offsetOf(root: unknown, path: readonly PropertyKey[]): number {
  let offset = 0;
  let node = root;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(step),
      );
      if (pair === undefined) return offset;
      offset = (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = (isNode(node) ? node.range?.[0] : undefined) ?? offset;
    } else break;
    if (isAlias(node)) break;
  }
  return offset;
}

/** A job as it was given, before it is checked. */
export interface Tree {
  [name: string]: unknown;
}

/** The value at a path (`service.url`); undefined where there is none. */
export function valueAt(tree: Tree, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isTree(value) && Object.hasOwn(value, name) ? value[name] : undefined), tree);
}

/** Puts a value at a path. */
export function putAt(tree: Tree, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let place = tree;
  for (const name of names) {
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    // A scalar where an object belongs stays, for the schema to complain about.
    if (next !== undefined && !isTree(next)) return;
    place = place[name] = next ?? {};
  }
  place[last] = value;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes the error of a value, as text that follows the field name. */
export function issueText(issue: z.core.$ZodIssue): string {
  // A wrong address or key file may be the key itself or hold a password, so it is not shown.
  const [section, name] = issue.path;
  const secret =
    section === 'notify' ||
    section === 'lineage' ||
    (section === 'fleet' && name === 'database') ||
    (issue.code === 'custom' && issue.params?.['hidden'] === true) ||
    (section === 'service' && ['url', 'apiKeyFile'].includes(String(name)));
  const given = issue.input === undefined || secret ? '' : `, not ${shownValue(issue.input)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}${given}${numberHint(issue)}`;
    case 'too_small':
      return issue.origin === 'array'
        ? 'must not be an empty list'
        : `must be ${boundText('least', issue.minimum, issue)}${given}`;
    case 'too_big':
      return `must be ${boundText('most', issue.maximum, issue)}${given}`;
    case 'invalid_value': {
      const names = issue.values.map(String);
      const near = typeof issue.input === 'string' ? nearestName(issue.input, names) : undefined;
      return `must be one of ${names.join(', ')}${given}${near === undefined ? '' : `; did you mean ${near}?`}`;
    }
    case 'invalid_union':
      return `${issue.message === anyUnion ? "must be a count like 20 or a percentage like '0.5%'" : issue.message}${given}`;
    default:
      return `${issue.message}${given}`;
  }
}

/** What zod says of a union that says nothing itself. */
const anyUnion = 'Invalid input';

/** How to write a number that was meant: `3.000` is 3 or 3,000, and a job file takes no `3M`. */
function numberHint({ expected, input }: z.core.$ZodIssueInvalidType): string {
  if (!['int', 'number'].includes(expected) || typeof input !== 'string') return '';
  const number = numberIn(input) ?? numberIn(input.replaceAll('.', '_'));
  return number === undefined ? '' : `; write ${number}`;
}

function shownValue(input: unknown): string {
  return JSON.stringify(typeof input === 'string' ? shownWord(input) : input);
}

const kinds: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
};

function boundText(
  side: 'least' | 'most',
  bound: number | bigint,
  { origin, inclusive }: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
): string {
  if (origin === 'string')
    return side === 'least' && bound <= 1 ? 'a non-empty string' : `at ${side} ${bound} characters long`;
  if (inclusive === false) return `${side === 'least' ? 'more' : 'less'} than ${bound}`;
  return `at ${side} ${bound}`;
}
