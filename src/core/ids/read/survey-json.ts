import { ExportError } from '../../../lib/export-error.ts';
import type { ByteSpan } from '../../../lib/scan/split-lines.ts';
import { holdsId } from '../entries.ts';
import { chooseColumns, namedPlaces } from './id-columns.ts';
import { isList, jqFilters, jqTodo, listsIn } from './json-lists.ts';
import {
  areRows,
  entriesLookedAt,
  type JsonForm,
  type ListForm,
  type ListSurvey,
  type Sample,
  type SurveyOptions,
  mostSamples,
} from './list-form.ts';
import { noList, type NoList } from './no-list.ts';
import { isObject, jsonLayout, type JsonValue, scanJsonList, valuesOf } from './read-json.ts';

/** More members are not looked at: an object may be keyed by a million ids. */
const mostMembers = 10_000;

/** Looks at the beginning of JSON: one or more arrays, objects that follow one another, or a value a line. */
export function surveyJson(options: SurveyOptions): ListSurvey {
  const layout = jsonLayout(options.head);
  const values = new JsonValues(options, layout);
  const addSpan = (span: ByteSpan): void => {
    if (span.cut)
      values.add({ text: span.bytes.toString('utf8', span.start, 1000), value: undefined, line: span.line });
    else for (const each of valuesOf(span)) values.add(each);
  };
  const scanner = scanJsonList(options.input, layout, addSpan, (elements) => {
    values.endArray(elements);
  });
  return {
    ...scanner,
    get entries() {
      return values.entries;
    },
    form: () => values.form(),
  };
}

/** What the values of a list show. */
class JsonValues {
  entries = 0;
  readonly #options: SurveyOptions;
  readonly #layout: Pick<JsonForm, 'kind' | 'opensInner'>;
  #objects = 0;
  /** Ids by the member that holds them. */
  readonly #ids = new Map<string, number>();
  /** Values that are ids themselves. */
  #plainIds = 0;
  readonly #samples: Sample[] = [];
  /** Of each array: whether its elements are ids. */
  readonly #arrays: boolean[][] = [];
  #array: boolean[] = [];

  constructor(options: SurveyOptions, layout: Pick<JsonForm, 'kind' | 'opensInner'>) {
    this.#options = options;
    this.#layout = layout;
  }

  add({ text, value, line }: JsonValue): void {
    if (this.entries >= entriesLookedAt) return;
    this.entries += 1;
    if (this.#samples.length < mostSamples) this.#samples.push({ line, text });
    if (isObject(value)) {
      this.#objects += 1;
      for (const [name, member] of Object.entries(value).slice(0, mostMembers)) {
        this.#ids.set(name, (this.#ids.get(name) ?? 0) + (isId(member) ? 1 : 0));
      }
      return;
    }
    const isPlain = isId(typeof value === 'string' ? value : text);
    this.#array.push(isPlain);
    if (isPlain) this.#plainIds += 1;
  }

  endArray(elements: number): void {
    if (elements > 0) this.#arrays.push(this.#array);
    this.#array = [];
  }

  async form(): Promise<ListForm> {
    const { input, column: asked } = this.#options;
    const layout = this.#layout;
    if (areRows(this.#arrays.map(({ length }) => length))) throw this.#rows();
    if (this.#objects === 0) {
      if (this.entries > 0 && this.#plainIds === 0) throw this.#noList();
      return { ...layout, members: [] };
    }
    const names = [...this.#ids.keys()];
    const holdsIds = (place: number): boolean => (this.#ids.get(names[place] ?? '') ?? 0) > 0;
    const isNamed = asked === undefined ? namedPlaces(names).some(holdsIds) : names.includes(asked);
    if (this.#objects === 1 || !isNamed) this.#requireNoList();
    const { columns, guessed } = await chooseColumns({ input, names, named: true, asked, holdsIds });
    // An object without these may still have a name that means the id, whose text is then invalid.
    const places = asked === undefined ? new Set([...columns, ...namedPlaces(names)]) : columns;
    const members = [...places].map((place) => names[place] ?? '');
    const column = names[columns[0] ?? -1];
    if (column === undefined && this.#plainIds === 0) throw this.#noList(names);
    return { ...layout, members, ...(column === undefined ? {} : { taken: { input, column, guessed } }) };
  }

  /** @throws {ExportError} `input` when objects are only around a list */
  #requireNoList(): void {
    const { input, head } = this.#options;
    const lists = listsIn(head).filter(isList);
    if (lists.length === 0) return;
    const { filters, found } = jqFilters(lists, head);
    throw new ExportError('input', `${input}: the list of ids is inside other JSON: ${found}`, {
      todo: jqTodo(input, filters),
    });
  }

  #noList(names?: readonly string[]): ExportError {
    const found: NoList = { entries: this.entries, samples: this.#samples };
    return noList(this.#options, names === undefined ? found : { ...found, names });
  }

  #rows(): ExportError {
    const { input } = this.#options;
    const [first = []] = this.#arrays;
    const places = [...first.keys()].filter((place) => this.#arrays.every((array) => array[place] === true));
    const inner = this.#layout.opensInner ? '.[]' : '.';
    const filters = (places.length > 0 ? places : [...first.keys()]).map((place) => `${inner}[${place}]`);
    return new ExportError('input', `${input}: arrays of ${first.length} values each, like the rows of a table`, {
      todo: jqTodo(input, filters),
    });
  }
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && holdsId(value);
}
