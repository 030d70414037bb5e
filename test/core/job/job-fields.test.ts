import { describe, expect, it } from 'vitest';
import { jobFields, jobJsonSchema } from '../../../src/core/job/job-fields.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly anyOf?: readonly Node[];
  readonly type?: string;
}

const schema = jobJsonSchema() as Node;

function nodeAt(path: string): Node | undefined {
  return path.split('.').reduce<Node | undefined>((node, name) => node?.properties?.[name], schema);
}

describe('the JSON Schema of job files', () => {
  it('has every job field with its description', () => {
    for (const { path, description } of jobFields) expect(nodeAt(path)?.description, path).toBe(description);
  });

  it('asks for the fields without a default, and knows no others', () => {
    expect(schema.required).toEqual(['ids', 'service', 'output']);
    expect(nodeAt('output')?.required).toEqual(['dir']);
    for (const path of ['ids', 'service', 'service.flags', 'output']) {
      expect(nodeAt(path)?.additionalProperties, path).toBe(false);
    }
  });

  it('takes one value where a list may stand, and a variable where a number may', () => {
    const format = { type: 'string', enum: ['parquet', 'csv', 'jsonl', 'raw'] };
    expect(nodeAt('output.formats')?.anyOf).toEqual([format, { type: 'array', items: format, minItems: 1 }]);
    expect(nodeAt('service.idsPerCall')?.anyOf?.map(({ type }) => type)).toEqual(['integer', 'string']);
  });

  it('holds nothing of the command line', () => {
    expect(JSON.stringify(schema)).not.toContain('"flag"');
  });
});
