/**
 * The environment of a program whose clock begins at a moment: every thread of it reads the time from there on.
 * @param ms milliseconds since 1970
 */
export function clockAt(ms: number): Readonly<Record<string, string>> {
  const shift = ms - Date.now();
  const source = `
    const System = Date;
    const now = () => System.now() + ${shift};
    globalThis.Date = class extends System {
      constructor(...given) { super(...(given.length === 0 ? [now()] : given)); }
      static now() { return now(); }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
