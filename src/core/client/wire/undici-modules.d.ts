/** Modules of undici that have no types. */
declare module 'undici/lib/*' {
  const value: { readonly prototype: object };
  export = value;
}
