/** Draws docs/demo.svg, the picture of the README: what `demo` and `verify` print on a terminal. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { terminalCommand } from './terminal-command.ts';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const commands = ['demo', 'verify asset-export-demo'];

/** Runs the commands of the picture in an empty folder. They need the built program. */
export async function demoOutput(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'asset-export-picture-'));
  try {
    let text = '';
    for (const command of commands) text += `$ asset-export ${command}\n${await onTerminal(command, folder)}\n\n`;
    return text.trimEnd();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What stays on the terminal. `script` (util-linux) gives the program a terminal of its own. */
async function onTerminal(command: string, cwd: string): Promise<string> {
  const line = `'${process.execPath}' '${main}' ${command}`;
  const env = { PATH: process.env['PATH'], HOME: cwd, TERM: 'xterm' };
  const [file, ...args] = terminalCommand(line);
  const { stdout } = await promisify(execFile)(file, args, { cwd, env });
  // The progress block is redrawn with escape sequences. The summary is the long text without any.
  const pieces = stdout.replaceAll('\r', '').split(/\u001b(?:\[[?\d;]*[A-Za-z]|\][^\u0007]*\u0007)/);
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '').trim();
}

const lineHeight = 18;
const characterWidth = 7.83;
const margin = 20;

/** The text as a terminal window, drawn with the reader's monospace font. */
export function drawTerminal(text: string): string {
  const lines = text.split('\n');
  const columns = Math.max(...lines.map((line) => line.length));
  const width = Math.ceil(columns * characterWidth + 2 * margin);
  const height = lines.length * lineHeight + 2 * margin;
  const rows = lines.map((line, index) => {
    const kind = line.startsWith('$ ') ? ' class="command"' : '';
    return `<text${kind} x="${margin}" y="${margin + lineHeight * (index + 0.75)}">${escapeXml(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">`,
    '<title>asset-export demo and verify on a terminal</title>',
    '<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde5;white-space:pre}.command{fill:#7ee787;font-weight:bold}</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>`,
    ...rows.filter((row) => !row.endsWith('"></text>')),
    '</svg>',
    '',
  ].join('\n');
}

/** A picture without what differs from run to run. */
export function withoutTimes(picture: string): string {
  return picture.replaceAll(/\d+(\.\d+)? (ms|s|min)\b/g, 'TIME');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
