import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { ExportError } from '../lib/export-error.ts';

const load = createRequire(import.meta.url);

/** Its 70 files are read where there is a job file; `import()` would make every caller wait for them. */
function yaml(): typeof Yaml {
  return load('yaml') as typeof Yaml;
}

/** A job file's value, before the schema sees it, and where its fields stand. */
export interface JobFile {
  readonly value: unknown;
  /** `jobs/nightly.yaml:12:3` for a path in the value, or of the nearest field above it. */
  whereIs(path: readonly PropertyKey[]): string;
}

/** Parses YAML (JSON is YAML too) and replaces `${NAME}` and `${NAME:-default}` inside strings. @throws {ExportError} `usage` */
export function parseJobFile(
  text: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): JobFile {
  const { isMap, LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const where = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    throw new ExportError('usage', `${where(mistake.pos[0])}: ${mistake.message}`, { todo: 'Mend the YAML there.' });
  }
  if (document.contents !== null && !isMap(document.contents)) {
    throw new ExportError('usage', `${name}: a job file holds fields (ids, service, output), not a list or a text`, {
      todo: 'See jobs/demo.yaml for an example.',
    });
  }
  visit(document, {
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'string') return;
      const value = interpolate(node.value, environment, where(node.range?.[0] ?? 0));
      if (value !== node.value) node.value = plainValue(value, node.type);
    },
  });
  return {
    value: document.toJS() ?? {},
    whereIs: (path) => where(offsetOf(document.contents, path)),
  };
}

/** An unquoted `${N}` that comes out as a number or a boolean is one, as it would be had it been written there. */
function plainValue(text: string, style: string | undefined): unknown {
  if (style !== 'PLAIN') return text;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text;
}

function interpolate(text: string, environment: Readonly<Record<string, string | undefined>>, where: string): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
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
  const { isAlias, isMap, isNode, isPair, isScalar, isSeq } = yaml();
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
