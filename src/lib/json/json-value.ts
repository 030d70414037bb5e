import { ExactNumber } from './exact-number.ts';

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
