import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const sourceFolder = fileURLToPath(new URL('../src', import.meta.url));
export const workspacesFolder = fileURLToPath(new URL('../packages', import.meta.url));

/** A source file, parsed. */
export interface SourceFile {
  /** Relative to the folder that was read. */
  readonly name: string;
  readonly tree: ts.SourceFile;
  readonly lines: number;
}

export function sourceFiles(folder = sourceFolder): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const tree = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
      return { name, tree, lines: text.split('\n').length - 1 };
    });
}

/** Names that more than one file exports, with these files. */
export function sharedNames(files: readonly Pick<SourceFile, 'name' | 'tree'>[]): Map<string, string[]> {
  const owners = new Map<string, string[]>();
  for (const { name, tree } of files)
    for (const exported of new Set(tree.statements.flatMap(exportedNames)))
      owners.set(exported, [...(owners.get(exported) ?? []), name]);
  return new Map([...owners].filter(([, names]) => names.length > 1));
}

/** Interfaces that are not exported and named only once, by file: the arguments of one function. */
export function interfacesUsedOnce(files: readonly Pick<SourceFile, 'name' | 'tree'>[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, tree } of files) {
    const uses = new Map<string, number>();
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
      ts.forEachChild(node, visit);
    };
    visit(tree);
    const once = tree.statements
      .filter(ts.isInterfaceDeclaration)
      // Its declaration is the other one.
      .filter((each) => exportedNames(each).length === 0 && uses.get(each.name.text) === 2)
      .map((each) => each.name.text);
    if (once.length > 0) found.set(name, once);
  }
  return found;
}

/** A function of ours has at most so many lines. */
export const mostLinesOfFunction = 60;

/** Functions with more lines. */
export function longFunctions(files: readonly Pick<SourceFile, 'name' | 'tree'>[]) {
  return files.flatMap(({ name: file, tree }) => {
    const lineOf = (at: number): number => tree.getLineAndCharacterOfPosition(at).line;
    const found: { readonly file: string; readonly name: string; readonly lines: number }[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
        const lines = lineOf(node.end) - lineOf(node.getStart(tree)) + 1;
        if (lines > mostLinesOfFunction) found.push({ file, name: nameOf(node), lines });
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  });
}

function nameOf(node: ts.SignatureDeclaration): string {
  const { parent } = node;
  return (
    node.name?.getText() ?? (ts.isVariableDeclaration(parent) ? parent.name.getText() : 'a function without a name')
  );
}

/** What a statement exports under names of its own. */
export function exportedNames(statement: ts.Statement): string[] {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText(statement.getSourceFile()));
  const { name } = statement as { name?: ts.Identifier };
  return name === undefined ? [] : [name.text];
}
