import type { ByteOutput } from './sink.ts';

/** Bytes gathered before they are given away: large enough that an output is called rarely. */
const pieceBytes = 256 * 1024;

/** UTF-8 bytes of one code unit, at most. A lone surrogate is three as well (U+FFFD). */
const maxUnitBytes = 3;

const quoteMark = 0x22;

/**
 * Lines of text on their way to an output, as UTF-8. Each piece is a buffer of its own, because an output may keep it.
 * A lone surrogate becomes U+FFFD.
 */
export class ByteLines {
  private readonly output: ByteOutput;
  private piece = Buffer.allocUnsafeSlow(pieceBytes);
  private used = 0;

  constructor(output: ByteOutput) {
    this.output = output;
  }

  /** True when it is time to `flush`. */
  get isFull(): boolean {
    return this.used >= pieceBytes / 2;
  }

  text(text: string): void {
    this.reserve(text.length * maxUnitBytes);
    this.used += this.piece.write(text, this.used);
  }

  /** The text in quotes, those inside it doubled: on bytes this takes half the time of `replaceAll`. */
  quoted(text: string): void {
    const most = text.length * maxUnitBytes;
    this.reserve(2 * most + 2);
    const { piece } = this;
    // Doubled from further on in the piece, where the text cannot be overtaken.
    let from = this.used + most + 2;
    const end = from + piece.write(text, from);
    let to = this.used;
    piece[to++] = quoteMark;
    for (; from < end; from += 1) {
      const byte = piece[from] ?? 0;
      if (byte === quoteMark) piece[to++] = quoteMark;
      piece[to++] = byte;
    }
    piece[to++] = quoteMark;
    this.used = to;
  }

  async flush(): Promise<void> {
    if (this.used === 0) return;
    const bytes = this.piece.subarray(0, this.used);
    this.piece = Buffer.allocUnsafeSlow(pieceBytes);
    this.used = 0;
    await this.output.write(bytes);
  }

  private reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.piece.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.piece.length * 2));
    this.piece.copy(larger, 0, 0, this.used);
    this.piece = larger;
  }
}
