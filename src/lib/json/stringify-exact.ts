import { ExactNumber, numberText } from './exact-number.ts';
import type { Json, JsonArray, JsonObject } from './json-value.ts';

/** A container on its way out: its members' names (none in an array) and the place of the next one. */
interface Frame {
  readonly container: JsonArray | JsonObject;
  readonly names: readonly string[] | undefined;
  readonly length: number;
  next: number;
}

/** JSON text of a value with exact numbers in it, or too deep for JSON.stringify; else the same text as its. */
export function stringifyExact(value: Json): string {
  const pieces: string[] = [];
  const frames: Frame[] = [];

  function print(member: Json): void {
    if (typeof member !== 'object' || member === null) pieces.push(scalarText(member));
    else if (member instanceof ExactNumber) pieces.push(member.text);
    else {
      frames.push(frameOf(member));
      pieces.push(Array.isArray(member) ? '[' : '{');
    }
  }

  print(value);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { container, names, next } = frame;
    if (next === frame.length) {
      frames.pop();
      pieces.push(names === undefined ? ']' : '}');
      continue;
    }
    frame.next += 1;
    if (next > 0) pieces.push(',');
    if (Array.isArray(container)) print(container[next] ?? null);
    else {
      const name = names?.[next] ?? '';
      pieces.push(JSON.stringify(name), ':');
      print(container[name] ?? null);
    }
  }
  return pieces.join('');
}

function scalarText(value: string | number | boolean | null): string {
  return typeof value === 'number' ? numberText(value) : JSON.stringify(value);
}

function frameOf(container: JsonArray | JsonObject): Frame {
  if (Array.isArray(container)) return { container, names: undefined, length: container.length, next: 0 };
  const names = Object.keys(container);
  return { container, names, length: names.length, next: 0 };
}
