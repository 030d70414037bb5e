/** What is used of WebAssembly: TypeScript declares it with the DOM alone. https://webassembly.github.io/spec/js-api/ */
declare namespace WebAssembly {
  interface Module {
    readonly [Symbol.toStringTag]: string;
  }
  const Module: new (bytes: Uint8Array) => Module;
  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, object>>);
    readonly exports: unknown;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  const Memory: new (pages: { readonly initial: number; readonly maximum: number }) => Memory;
  interface Global {
    readonly value: unknown;
  }
}
