import { z } from 'zod';
import { jobSchema } from './job-schema.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Text with a `${NAME}` in it may stand for a number or a boolean. */
const fromEnvironment: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' };

/** The JSON Schema of job files, for editors: from the one schema that checks them. */
export function jobJsonSchema(): object {
  const schema = z.toJSONSchema(jobSchema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodPipe) allowOne(zodSchema, jsonSchema);
      if (['integer', 'number', 'boolean'].includes(String(jsonSchema.type))) allowVariable(jsonSchema);
      // What only the command line needs.
      delete jsonSchema['flag'];
      delete jsonSchema['value'];
      delete jsonSchema['inFileOnly'];
    },
  });
  return { ...schema, title: 'A job of asset-export' };
}

/** One value may stand where a list of them does. */
function allowOne(schema: z.ZodPipe, target: JsonSchema): void {
  const list = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  const { items, minItems } = list;
  if (typeof items !== 'object' || Array.isArray(items)) return;
  delete target.type;
  delete target.items;
  delete target.minItems;
  target.anyOf = [items, { type: 'array', items, ...(minItems === undefined ? {} : { minItems }) }];
}

function allowVariable(target: JsonSchema): void {
  const { type, minimum, maximum, exclusiveMinimum } = target;
  const value = Object.fromEntries(
    Object.entries({ type, minimum, maximum, exclusiveMinimum }).filter(([, each]) => each !== undefined),
  );
  delete target.type;
  delete target.minimum;
  delete target.maximum;
  delete target.exclusiveMinimum;
  target.anyOf = [value, fromEnvironment];
}
