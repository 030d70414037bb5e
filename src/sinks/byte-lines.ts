import { GrowingBytes } from './growing-bytes.ts';
import type { ByteOutput } from './sink.ts';

/** Bytes gathered before they are given away: large enough that an output is called rarely. */
const pieceBytes = 256 * 1024;

/** Lines of text on their way to an output, as UTF-8. Each piece is a buffer of its own, because an output may keep it. */
export class ByteLines extends GrowingBytes {
  readonly #output: ByteOutput;

  constructor(output: ByteOutput) {
    super(pieceBytes);
    this.#output = output;
  }

  /** True when it is time to `flush`. */
  get isFull(): boolean {
    return this.used >= pieceBytes / 2;
  }

  async flush(): Promise<void> {
    if (this.used === 0) return;
    const { bytes } = this;
    this.clear(pieceBytes);
    await this.#output.write(bytes);
  }
}
