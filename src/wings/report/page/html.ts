/** Text that is markup already. Only `html` makes it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Markup | string | number | null | undefined | false | readonly Part[];

/**
 * The only thing that builds markup. What is put in is text, whatever it holds, unless `html` made it; lists are joined, and
 * null, undefined and false are nothing. Values always stand in quotes, where they stand in a tag.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(
    strings.map((string, index) => string + (index < parts.length ? textOf(parts[index]) : '')).join(''),
  );
}

/** The page's own style and script, in which nothing is text. */
export function inline(own: string): Markup {
  return new Markup(own);
}

/** Joins with something between. */
export function joined(parts: readonly Part[], between: Part): Part {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
}

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return escaped(visible(String(part)));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** What is not seen, or changes how its neighbours are seen: controls, directions, zero widths, lone surrogates. */
const unseen =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Shows each unseen character by its number, as in `U+202E`. */
export function visible(text: string): string {
  return text.replaceAll(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}
