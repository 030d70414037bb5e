import { closeSync, openSync, writeSync } from 'node:fs';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Every id that the bench makes has so many characters: the load server finds them without parsing. */
export const idCharacters = 44;

const idsPerWrite = 20_000;

/** Writes a file of so many ids, one a line: the same ones each time, a shorter file being the beginning of a longer one. */
export function writeIds(file: string, count: number): void {
  const nextId = idSource();
  const output = openSync(file, 'w');
  for (let done = 0; done < count; done += idsPerWrite) {
    const ids = Array.from({ length: Math.min(idsPerWrite, count - done) }, nextId);
    writeSync(output, `${ids.join('\n')}\n`);
  }
  closeSync(output);
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
