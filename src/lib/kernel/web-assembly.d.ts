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
  interface Global {
    readonly value: unknown;
  }
}
