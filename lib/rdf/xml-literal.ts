/**
 * The value of an XML literal (RDF/XML 7.2.17): what is in an element, in Exclusive XML Canonicalization with comments. It must not
 * know RDF.
 */

export interface XmlAttribute {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  value: string;
}

export interface XmlTag {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly attributes: Readonly<Record<string, XmlAttribute>>;
}

const inText: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
const inValue: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

const isDeclaration = ({ prefix, name }: XmlAttribute): boolean => prefix === 'xmlns' || name === 'xmlns';
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export class XmlLiteral {
  /** The namespaces that the elements which are open have declared, by prefix. */
  private readonly declared = new Map<string, string | undefined>([['', '']]);
  /** Of each element that is open: the prefixes that it declared, with what they meant outside of it. */
  private readonly outside: (readonly (readonly [string, string | undefined])[])[] = [];

  static text(text: string): string {
    return text.replace(/[&<>\r]/g, (character) => inText[character]!);
  }

  /** The tags of an element. A namespace is declared where its prefix is used first. */
  open({ name, prefix, uri, attributes }: XmlTag): { readonly start: string; readonly end: string } {
    const own = Object.values(attributes).filter((attribute) => !isDeclaration(attribute));
    const used = new Map([[prefix, uri], ...own.flatMap((a) => (a.prefix === '' ? [] : [[a.prefix, a.uri] as const]))]);
    const fresh = [...used].filter(([short, iri]) => short !== 'xml' && this.declared.get(short) !== iri);
    this.outside.push(fresh.map(([short]) => [short, this.declared.get(short)]));
    for (const [short, iri] of fresh) this.declared.set(short, iri);
    const written = [
      ...fresh
        .sort(([a], [b]) => byText(a, b))
        .map(([short, iri]) => [short === '' ? 'xmlns' : `xmlns:${short}`, iri] as const),
      ...own
        .sort((a, b) => byText(a.uri, b.uri) || byText(a.local, b.local))
        .map((attribute) => [attribute.name, attribute.value] as const),
    ].map(([key, value]) => ` ${key}="${value.replace(/[&<"\t\n\r]/g, (character) => inValue[character]!)}"`);
    return { start: `<${name}${written.join('')}>`, end: `</${name}>` };
  }

  close(): void {
    for (const [short, iri] of this.outside.pop() ?? []) this.declared.set(short, iri);
  }
}
