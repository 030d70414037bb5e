/**
 * A JSON value. A number that JavaScript would print differently (u64, `1e400`, `1.0`, `-0`) is an `ExactNumber`.
 * An object's members are all its own, `__proto__` too: read them by known names or with `Object.entries`.
 */
export type Json = string | number | boolean | null | ExactNumber | JsonArray | JsonObject;
export type JsonArray = Json[];
export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Sets an own member whatever its name: assigning `__proto__` would set the prototype instead. */
export function setMember(object: JsonObject, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else object[name] = value;
}

/** Sets a member of an object within objects; those that are missing are made. */
export function setMemberAt(object: JsonObject, path: readonly string[], value: Json): void {
  let inner = object;
  for (const name of path.slice(0, -1)) {
    const member = inner[name];
    const branch = isJsonObject(member) ? member : {};
    inner[name] = branch;
    inner = branch;
  }
  setMember(inner, path.at(-1) ?? '', value);
}

/**
 * A JSON number that JavaScript would print differently from how it came (u64, `1e400`, `1.0`, `-0`): it keeps its text.
 * Recognised with `instanceof`: no member of a hostile record can pass for one.
 */
export class ExactNumber {
  /** The number as it stood in the JSON text. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** JSON.stringify cannot print it: here it is a marked string within `stringifyMarked`, else the nearest number. */
  toJSON(): number | string {
    if (marks === undefined) return Number(this.text);
    marks += 1;
    return `\0${this.text}`;
  }
}

/** How many exact numbers the JSON.stringify that is running has met; undefined when none runs. */
let marks: number | undefined;

/** JSON text of a value, its exact numbers printed as strings that begin with NUL; and how many there are. */
export function stringifyMarked(value: unknown): { text: string; count: number } {
  marks = 0;
  try {
    const text = JSON.stringify(value);
    return { text, count: marks };
  } finally {
    marks = undefined;
  }
}

/** A number of a JSON text: a JavaScript number where it is printed back as it came, else exact. */
export function numberOf(text: string): number | ExactNumber {
  const value = Number(text);
  return String(value) === text ? value : new ExactNumber(text);
}

/** The digits of a number as JSON writes them. */
export function numberText(value: number | ExactNumber): string {
  if (value instanceof ExactNumber) return value.text;
  return Object.is(value, -0) ? '-0' : String(value);
}
