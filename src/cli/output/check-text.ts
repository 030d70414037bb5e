import { printable } from '../../lib/format-text.ts';
import type { ExportError } from '../../lib/export-error.ts';
import { errorJson, forPeople } from './show-error.ts';

/** What became of one question of `check`. */
export interface CheckLine {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failure' | 'not looked at';
  /** The fact that was seen, on one line. */
  readonly text: string;
  readonly error?: ExportError;
}

export function checkedText(lines: readonly CheckLine[], cwd: string): string {
  return lines.map(({ name, state, text }) => `  ${name.padEnd(12)} ${forPeople(said(state, text), cwd)}\n`).join('');
}

function said(state: CheckLine['state'], text: string): string {
  return state === 'not looked at' ? `${'-'.padEnd(8)} ${state}: ${text}` : `${state.padEnd(8)} ${text}`;
}

export function checkJson(lines: readonly CheckLine[], exitCode: number): string {
  const checks = lines.map(({ name, state, text, error }) => ({
    name,
    state,
    text,
    exitCode: error?.exitCode ?? null,
    error: errorJson(error),
  }));
  return `${JSON.stringify({ exitCode, checks })}\n`;
}

/** A text on one line. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/:\s*\n\s*/g, ': ').replaceAll(/\s*\n\s*/g, '; '));
}
