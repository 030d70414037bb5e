import { checkValue, checkYaml, readYaml } from '../load-yaml.ts';
import { faultSchema, type Faults, faultsSchema } from './fault-schema.ts';

const kinds = faultSchema.options.map((option) => option.shape.fault.value);
const check = { schema: faultsSchema, misfit: `unknown fault; the faults are ${kinds.join(', ')}` };

/** Reads a fault file. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong. */
export async function readFaultFile(path: string): Promise<Faults> {
  return parseFaults(await readYaml(path, 'fault file'), path);
}

/** Checks the text of a fault file. @param path names it in messages. @throws {ExportError} `usage`. */
export function parseFaults(text: string, path: string): Faults {
  return checkYaml(text, { ...check, path });
}

/** Checks what a program gives instead of a file. @throws {ExportError} `usage` */
export function checkFaults(faults: unknown): Faults {
  return checkValue(faults, { ...check, path: 'faults' });
}
