import { Writable } from 'node:stream';

/** The lines that a terminal shows after what was written to it: line feeds, and what the block erases by. */
export class FakeTerminal extends Writable {
  readonly isTTY = true;
  readonly columns: number;
  readonly rows = 30;
  /** Of its window, by OSC 2. */
  readonly titles: string[] = [];
  #lines: string[] = [''];
  #row = 0;

  constructor(columns: number) {
    super();
    this.columns = columns;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    for (const [token] of chunk
      .toString()
      .matchAll(/\u001b\[[\d;?]*[A-Za-z]|\u001b\][^\u0007]*\u0007|\n|[^\u001b\n]+/g))
      this.#take(token);
    done();
  }

  /** As `process.stderr` is one. */
  asStream(): NodeJS.WriteStream {
    return this as unknown as NodeJS.WriteStream;
  }

  shown(): string[] {
    return this.#lines.map((line) => line.trimEnd());
  }

  #take(token: string): void {
    const title = /^\u001b\]2;(.*)\u0007$/.exec(token)?.[1];
    if (title !== undefined) this.titles.push(title);
    if (token.startsWith('\u001b') && !/^\u001b\[\??\d*[A-Za-z]$/.test(token)) return;
    const [, count = '', letter] = /^\u001b\[(\??\d*)([A-Za-z])$/.exec(token) ?? [];
    if (token === '\n') this.#row += 1;
    else if (letter === 'A') this.#row -= Number(count || 1);
    else if (letter === 'K') this.#lines[this.#row] = '';
    else if (letter === undefined) this.#lines[this.#row] = `${this.#lines[this.#row] ?? ''}${token}`;
    this.#lines[this.#row] ??= '';
  }
}
