import { type DefaultTreeAdapterMap, parse, type ParserError } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

/** A page as a browser reads it. */
export interface ReadPage {
  readonly errors: readonly string[];
  readonly elements: readonly Element[];
  /** The text that a reader sees, blanks as one; a space stands between elements. */
  readonly text: string;
}

export function readPage(page: string): ReadPage {
  const errors: string[] = [];
  const document = parse(page, { onParseError: ({ code }: ParserError) => errors.push(code) });
  const elements: Element[] = [];
  const texts: string[] = [];
  const walk = (node: Node): void => {
    if ('tagName' in node) elements.push(node);
    if ('tagName' in node && ['script', 'style', 'title'].includes(node.tagName)) return;
    if (node.nodeName === '#text') texts.push((node as DefaultTreeAdapterMap['textNode']).value);
    if ('childNodes' in node) node.childNodes.forEach(walk);
  };
  walk(document);
  return { errors, elements, text: texts.join(' ').replaceAll(/\s+/g, ' ').trim() };
}

/** The text below an element. */
export function textBelow(element: Element): string {
  const texts: string[] = [];
  const walk = (node: Node): void => {
    if (node.nodeName === '#text') texts.push((node as DefaultTreeAdapterMap['textNode']).value);
    if ('childNodes' in node) node.childNodes.forEach(walk);
  };
  walk(element);
  return texts.join(' ').replaceAll(/\s+/g, ' ').trim();
}

export function attributeOf(element: Element, name: string): string | undefined {
  return element.attrs.find((each) => each.name === name)?.value;
}
