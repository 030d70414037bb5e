import { closeSync, openSync, writeSync } from 'node:fs';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Every id that the bench makes has so many characters: the load server finds them without parsing. */
export const idCharacters = 44;

const idsPerWrite = 20_000;

export type IdFormat = 'lines' | 'csv' | 'json';

/** Writes a file of so many ids: the same ones each time, a shorter file being the beginning of a longer one. */
export function writeIds(file: string, count: number, format: IdFormat): void {
  const nextId = idSource();
  const output = openSync(file, 'w');
  writeSync(output, { lines: '', csv: 'name,id\n', json: '[' }[format]);
  for (let done = 0; done < count; done += idsPerWrite) {
    let text = '';
    for (let index = done; index < Math.min(count, done + idsPerWrite); index += 1) {
      text += idText(nextId(), index, format);
    }
    writeSync(output, text);
  }
  if (format === 'json') writeSync(output, ']');
  closeSync(output);
}

function idText(id: string, index: number, format: IdFormat): string {
  if (format === 'csv') return `"Thing #${index}",${id}\n`;
  if (format === 'json') return `${index === 0 ? '' : ','}"${id}"`;
  return `${id}\n`;
}

/** 44 characters of which the first is from `2` to `G` always make 32 bytes. Deterministic: xorshift32. */
export function idSource(): () => string {
  let state = 0x9e3779b9;
  const digit = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return () => {
    let id = alphabet.charAt(1 + digit(15));
    while (id.length < idCharacters) id += alphabet.charAt(digit(58));
    return id;
  };
}
