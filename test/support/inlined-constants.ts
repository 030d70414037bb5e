import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const imports = /^import \{([^}]+)\} from '(\.[^']+\.ts)';/gm;
const constants = /^export const (\w+) = (-?0x[\da-f]+|-?[\d_.]+);$/gim;
const numbersOf = new Map<string, ReadonlyMap<string, string>>();

/**
 * A plugin of Vite that writes imported numbers in place of their names. Vitest reads an import as a property at each use: a scanner
 * that compares each byte with such constants ran seven times as long. `dist` has them inlined, too.
 */
export function inlinedConstants(): { name: string; enforce: 'pre'; transform: (code: string, id: string) => string } {
  return { name: 'inlined-constants', enforce: 'pre', transform: withoutImports };
}

function withoutImports(code: string, id: string): string {
  return code.replace(imports, (whole: string, list: string, path: string) => {
    const numbers = exportedNumbers(join(dirname(id), path));
    const names = list.split(',').map((name) => name.trim());
    const inlined = names.filter((name) => numbers.has(name));
    if (inlined.length === 0) return whole;
    const others = names.filter((name) => !numbers.has(name));
    const declared = inlined.map((name) => `${name} = ${numbers.get(name) ?? ''}`);
    // As many lines as before: stack traces stay right.
    const lines = '\n'.repeat(whole.split('\n').length - 1);
    return `import {${others.join(', ')}} from '${path}'; const ${declared.join(', ')};${lines}`;
  });
}

function exportedNumbers(path: string): ReadonlyMap<string, string> {
  let numbers = numbersOf.get(path);
  if (numbers === undefined) {
    numbers = new Map(
      [...readFileSync(path, 'utf8').matchAll(constants)].map(([, name = '', value = '']) => [name, value]),
    );
    numbersOf.set(path, numbers);
  }
  return numbers;
}
