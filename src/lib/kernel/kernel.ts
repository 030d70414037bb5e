import { existsSync, readFileSync } from 'node:fs';
import { answerEndSlot, answerSlot, paddingBytes } from './slots.ts';

/** The functions of kernel/index.ts, and where its memory lies. */
interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly header: WebAssembly.Global;
  freeAt(): number;
  scan(): number;
  readRows(isCsv: boolean): number;
  encodeCsv(): void;
  encodeJsonl(): void;
  layOutColumns(): void;
  hashAt(): number;
  keccak(length: number): void;
}

/** Room for the plan of a record, which lies before the answer. */
export const planBytes = 256 * 1024;

/** Memory that an answer of the usual size needs. An instance that took more is left to the garbage collector: memory of WebAssembly never shrinks. */
const keptBytes = 48 * 1024 * 1024;

const pageBytes = 65_536;

/**
 * The kernel (kernel/README.md) and its memory: the header, a plan, an answer, and behind it the regions of the call. Nothing in the regions lasts longer than the
 * work between two `await`s, as others use them too; the plan and the answer last until others are loaded.
 */
export class Kernel {
  readonly run: KernelExports;
  /** Views of the memory. They are made anew when it grows, so nobody may keep them. */
  bytes: Uint8Array<ArrayBuffer>;
  words: Int32Array<ArrayBuffer>;
  readonly planAt: number;
  readonly #header: number;
  #plan: Uint8Array | undefined;
  #answer: Uint8Array | undefined;
  /** What lies behind the answer, while no call has used that place. */
  #texts: Uint8Array | undefined;
  /** Bytes that stay as they are until they are forgotten. */
  readonly #lasting = new WeakSet<Uint8Array>();
  /** Behind the answer and its padding. */
  #regionsAt = 0;

  /** Asked by the kernel about numbers with many digits: whether their text is that of their cell in a column of a kind. */
  isCellText: (text: string, kind: number) => boolean = () => false;

  constructor(module: WebAssembly.Module) {
    const { exports } = new WebAssembly.Instance(module, {
      host: {
        isCellText: (at: number, length: number, kind: number) =>
          this.isCellText(this.#ascii(at, length), kind) ? 1 : 0,
        numberAt: (at: number, length: number) => Number(this.#ascii(at, length)),
      },
    });
    this.run = exports as KernelExports;
    this.#header = Number(this.run.header.value) >> 2;
    this.planAt = this.run.freeAt();
    this.bytes = new Uint8Array(this.run.memory.buffer);
    this.words = new Int32Array(this.bytes.buffer);
  }

  /** Whether its memory is larger than what is kept. */
  get isLarge(): boolean {
    return this.bytes.length > keptBytes;
  }

  get answerAt(): number {
    return this.planAt + planBytes;
  }

  slot(number: number): number {
    return this.words[this.#header + number] ?? 0;
  }

  setSlot(number: number, value: number): void {
    this.words[this.#header + number] = value;
  }

  /** Sets slots: the number of each, and behind it its value. */
  setSlots(pairs: readonly number[]): void {
    for (let index = 0; index < pairs.length; index += 2) this.setSlot(pairs[index] ?? 0, pairs[index + 1] ?? 0);
  }

  /** Has this plan in memory, at `planAt`; it keeps what it learned unless another was loaded in between. */
  loadPlan(plan: Uint8Array): void {
    if (this.#plan === plan) return;
    this.#makeRoom(this.answerAt);
    this.bytes.set(plan, this.planAt);
    this.#plan = plan;
  }

  /** Has these bytes in memory, zeros behind them. The last that were loaded are not copied again when they are lasting. */
  loadAnswer(answer: Uint8Array): void {
    const end = this.answerAt + answer.length;
    this.#regionsAt = aligned(end + paddingBytes);
    if (!this.#holds(answer)) {
      this.#makeRoom(this.#regionsAt);
      this.bytes.set(answer, this.answerAt);
      this.bytes.fill(0, end, end + paddingBytes);
      this.#answer = answer;
    }
    this.#texts = undefined;
    this.setSlot(answerSlot, this.answerAt);
    this.setSlot(answerEndSlot, end);
  }

  /** The same with texts behind the answer, and gives where these lie. @param room bytes behind them that are free for more */
  loadTexts(answer: Uint8Array, texts: Uint8Array, room: number): number {
    // Texts of an answer that lasts are added to, but never changed.
    const isThere = this.#holds(answer) && isSame(this.#texts, texts);
    this.loadAnswer(answer);
    const at = this.#regionsAt;
    this.#regionsAt = aligned(at + texts.length + room + paddingBytes);
    this.#makeRoom(this.#regionsAt);
    if (!isThere) this.bytes.set(texts, at);
    this.#texts = texts;
    return at;
  }

  #holds(answer: Uint8Array): boolean {
    return this.#answer === answer && this.#lasting.has(answer);
  }

  /** Says that these bytes are others than before, and from now on stay as they are. */
  keep(answer: Uint8Array): void {
    this.forget(answer);
    this.#lasting.add(answer);
  }

  /** Says that these bytes may become others. */
  forget(answer: Uint8Array): void {
    if (this.#answer === answer) this.#answer = undefined;
    this.#lasting.delete(answer);
  }

  /** Lays out regions of so many bytes behind the answer, each with padding, and gives where they begin. */
  regions(sizes: readonly number[]): number[] {
    let at = this.#regionsAt;
    const starts = sizes.map((size) => {
      const start = at;
      at = aligned(start + size + paddingBytes);
      return start;
    });
    this.#makeRoom(at);
    return starts;
  }

  #ascii(at: number, length: number): string {
    return String.fromCharCode(...this.bytes.subarray(at, at + length));
  }

  /** @throws {RangeError} when there is no such memory */
  #makeRoom(end: number): void {
    const missing = end - this.bytes.length;
    if (missing <= 0) return;
    this.run.memory.grow(Math.ceil(missing / pageBytes));
    this.bytes = new Uint8Array(this.run.memory.buffer);
    this.words = new Int32Array(this.bytes.buffer);
  }
}

function isSame(some: Uint8Array | undefined, others: Uint8Array): boolean {
  const { buffer, byteOffset, length } = others;
  return some?.buffer === buffer && some.byteOffset === byteOffset && some.length === length;
}

function aligned(at: number): number {
  return (at + 15) & ~15;
}

let module: WebAssembly.Module | undefined;
let kernel: Kernel | undefined;
/** Why there is no kernel; undefined while none was wanted, or there is one. */
let problem: string | undefined;

/** The kernel of this thread; undefined where it cannot be loaded, so that all has to go the long way. */
export function theKernel(): Kernel | undefined {
  if (kernel?.isLarge === true) kernel = undefined;
  if (kernel !== undefined || problem !== undefined) return kernel;
  try {
    module ??= new WebAssembly.Module(readFileSync(kernelFile()));
    kernel = new Kernel(module);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  return kernel;
}

/** Beside a bundle, above a chunk, or where the build puts it of these sources. */
function kernelFile(): URL {
  const files = ['kernel.wasm', '../kernel.wasm', '../../../dist/kernel.wasm'].map(
    (name) => new URL(name, import.meta.url),
  );
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error('kernel.wasm is missing from the folder dist of this package');
  return found;
}

/** Why everything takes the long way; undefined where there is a kernel. */
export function kernelProblem(): string | undefined {
  theKernel();
  return problem;
}
