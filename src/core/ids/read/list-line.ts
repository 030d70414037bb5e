import { isBucketAddress } from '../../../lib/addresses/bucket-address.ts';
import { shellWord } from '../../../lib/addresses/shown-path.ts';

/**
 * How to make a list of ids from an input, with lines that can be typed. A shell cannot read an object: it is copied first.
 * @param what the lines do
 * @param commands each reads the input from stdin, and writes an id a line
 */
export function listTodo(what: string, input: string, commands: readonly string[]): string {
  const isObject = isBucketAddress(input);
  const file = isObject ? lastName(input) : input;
  const lines = commands.map((command) => listLine(file, command)).join(' or: ');
  return `${isObject ? 'Copy the object to a local file first. ' : ''}${what}: ${lines}`;
}

function listLine(input: string, command: string): string {
  if (input === '-') return `… | ${command} | asset-export …`;
  const name = lastName(input);
  const [stem = ''] = name.split('.');
  const list = shellWord(`${stem === '' ? 'list' : stem}.ids.txt`);
  const packed = /\.(gz|gzip)$/i.test(name) ? 'gzip' : /\.(zst|zstd)$/i.test(name) ? 'zstd' : undefined;
  if (packed !== undefined) return `${packed} -dc ${shellWord(input)} | ${command} > ${list}`;
  return `${command} < ${shellWord(input)} > ${list}`;
}

function lastName(input: string): string {
  return input.slice(input.lastIndexOf('/') + 1);
}
