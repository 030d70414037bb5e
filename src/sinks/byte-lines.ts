import { GrowingBytes } from './growing-bytes.ts';
import type { ByteOutput } from './sink.ts';

/** Bytes gathered before they are given away: large enough that an output is called rarely. */
const pieceBytes = 256 * 1024;

/** A row may be wider than a piece; memory beyond this is given up again. */
const mostBytes = 4 * 1024 * 1024;

/** Lines of text on their way to an output, as UTF-8, in the same memory piece after piece. */
export class ByteLines extends GrowingBytes {
  readonly #output: ByteOutput;

  constructor(output: ByteOutput) {
    super(pieceBytes, mostBytes);
    this.#output = output;
  }

  /** True when it is time to `flush`. */
  get isFull(): boolean {
    return this.used >= pieceBytes / 2;
  }

  async flush(): Promise<void> {
    if (this.used === 0) return;
    await this.#output.write(this.bytes);
    this.clear();
  }
}
