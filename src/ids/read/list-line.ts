import { shellWord } from '../../lib/shown-path.ts';

/**
 * A line for a shell that makes a list of ids from an input.
 * @param command reads the input from stdin, and writes an id a line
 */
export function listLine(input: string, command: string): string {
  if (input === '-') return `… | ${command} | asset-export …`;
  const name = input.slice(input.lastIndexOf('/') + 1);
  const [stem = ''] = name.split('.');
  const list = shellWord(`${stem === '' ? 'list' : stem}.ids.txt`);
  const packed = /\.(gz|gzip)$/i.test(name) ? 'gzip' : /\.(zst|zstd)$/i.test(name) ? 'zstd' : undefined;
  if (packed !== undefined) return `${packed} -dc ${shellWord(input)} | ${command} > ${list}`;
  return `${command} < ${shellWord(input)} > ${list}`;
}
