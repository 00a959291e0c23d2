/**
 * Seeded data in the form of DBLP, for `sparqloscope`: publications with signatures, people, streams, and an ontology of a few
 * hundred triples that uses the small predicates. About 28 triples per publication. No triple is in two graphs.
 */
import { Random } from '../properties/sparql-random.js';

const [dblp, rdf, rdfs] = [
  'https://dblp.org/rdf/schema#',
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  'http://www.w3.org/2000/01/rdf-schema#',
];
const [terms, owl, xsd] = [
  'http://purl.org/dc/terms/',
  'http://www.w3.org/2002/07/owl#',
  'http://www.w3.org/2001/XMLSchema#',
];

const syllables = 'com pu ter gra ph que ry da ta sys tem net work se mi in for ma tion an al ys is mo del'.split(' ');
/** Publications per graph. */
const perGraph = 50;
const triplesPerPublication = 28;

const iri = (text: string): string => `<${text}>`;
const literal = (text: string, datatype?: string): string => `"${text}"${datatype ? `^^<${xsd}${datatype}>` : ''}`;

/** Small predicates of the ontology. */
const small = [
  ...['awardWebpage', 'publishersAddress'].map((name) => dblp + name),
  ...['equivalentClass', 'equivalentProperty', 'inverseOf', 'priorVersion', 'versionIRI', 'versionInfo'].map(
    (name) => owl + name,
  ),
  ...['comment', 'domain', 'range', 'subClassOf', 'subPropertyOf'].map((name) => rdfs + name),
  ...['abstract', 'creator', 'description', 'license', 'modified'].map((name) => terms + name),
];

class Dblp {
  private readonly random = new Random(7);
  private lines: string[] = [];
  private readonly words: readonly string[];

  constructor(private readonly publications: number) {
    this.words = Array.from({ length: 4000 }, () =>
      Array.from({ length: 2 + this.random.below(3) }, () => this.random.pick(syllables)).join(''),
    );
  }

  *graphs(): Generator<readonly [graph: string, lines: readonly string[]]> {
    const name = (part: string): string => `http://bench.example/g/${part}`;
    this.ontology();
    yield [name('ontology'), this.taken()];
    const { streams } = this;
    for (let stream = 0; stream < streams; stream++) {
      this.stream(stream);
      if (stream % 200 === 199 || stream === streams - 1)
        yield [name(`streams${Math.floor(stream / 200)}`), this.taken()];
    }
    for (let at = 0; at < this.publications; at++) {
      this.publication(at);
      if (at % perGraph === perGraph - 1 || at === this.publications - 1)
        yield [name(`r${Math.floor(at / perGraph)}`), this.taken()];
    }
  }

  private get streams(): number {
    return Math.max(20, Math.floor(this.publications / 400));
  }

  private taken(): readonly string[] {
    const lines = [...new Set(this.lines)];
    this.lines = [];
    return lines;
  }

  private add(subject: string, predicate: string, object: string): void {
    this.lines.push(`${subject} <${predicate}> ${object}`);
  }

  private title(): string {
    const text = Array.from({ length: 3 + this.random.below(7) }, () => this.random.pick(this.words)).join(' ');
    return text[0]!.toUpperCase() + text.slice(1);
  }

  /** Streams of ten are related to each other. */
  private streamIri(at: number): string {
    return iri(at === 0 ? 'https://dblp.org/streams/conf/damp' : `https://dblp.org/streams/conf/s${at}`);
  }

  private ontology(): void {
    const things = Array.from({ length: 30 }, (_, at) => iri(`${dblp}Thing${at}`));
    for (const type of ['Article', 'Inproceedings', 'Book'])
      this.add(iri(dblp + type), `${rdfs}subClassOf`, iri(`${dblp}Publication`));
    for (const predicate of small)
      for (let count = 5 + this.random.below(12); count > 0; count--)
        this.add(
          this.random.pick(things),
          predicate,
          this.random.next() < 0.6 ? this.random.pick(things) : literal(this.title()),
        );
  }

  private stream(at: number): void {
    const stream = this.streamIri(at);
    const other = (): string => this.streamIri(Math.min(this.streams - 1, at - (at % 10) + this.random.below(10)));
    this.add(stream, `${rdf}type`, iri(`${dblp}Stream`));
    this.add(stream, `${rdfs}label`, literal(this.title()));
    for (let count = this.random.below(4); count > 0; count--) this.add(stream, `${dblp}relatedStream`, other());
    for (const name of ['subStream', 'predeccessorStream', 'successorStream'])
      if (this.random.next() < 0.3) this.add(stream, dblp + name, other());
    if (this.random.next() < 0.3) this.add(stream, `${dblp}formerStreamTitle`, literal(this.title()));
    if (this.random.next() < 0.05) this.add(stream, `${rdf}type`, stream);
  }

  private publication(at: number): void {
    const own = iri(`https://dblp.org/rec/conf/x/${at}`);
    const type = this.random.pick(['Article', 'Inproceedings', 'Inproceedings', 'Book']);
    const creators = 1 + this.random.below(5);
    this.add(own, `${rdf}type`, iri(`${dblp}Publication`));
    this.add(own, `${rdf}type`, iri(dblp + type));
    this.add(own, `${rdfs}label`, literal(this.title()));
    this.add(own, `${dblp}numberOfCreators`, literal(String(creators), 'integer'));
    this.add(own, `${dblp}bibtexType`, iri(`http://purl.org/net/nknouf/ns/bibtex#${type}`));
    const year = 1960 + Math.floor(65 * Math.sqrt(this.random.next()));
    if (this.random.next() < 0.95)
      this.add(own, `${dblp}yearOfPublication`, literal(`${year}-01-01T00:00:00`, 'dateTime'));
    const isPart = type === 'Inproceedings' || this.random.next() < 0.02;
    if (this.random.next() < 0.9)
      this.add(own, `${dblp}publishedInStream`, this.streamIri(this.random.below(this.streams)));
    if (isPart)
      this.add(
        own,
        `${dblp}publishedAsPartOf`,
        iri(`https://dblp.org/rec/conf/x/${this.random.below(this.publications)}`),
      );
    if (type === 'Article')
      this.add(own, `${dblp}publishedInJournalVolume`, literal(String(1 + this.random.below(80))));
    if (this.random.next() < 0.005)
      this.add(own, `${dblp}publishedInBookChapter`, literal(String(1 + this.random.below(40))));
    if (this.random.next() < 0.002) this.add(own, `${terms}title`, literal(this.title()));
    for (let ordinal = 1; ordinal <= creators; ordinal++) this.signature(own, at, ordinal);
  }

  private signature(publication: string, at: number, ordinal: number): void {
    const own = ordinal % 2 ? `_:s${at}_${ordinal}` : iri(`https://dblp.org/rec/conf/x/${at}#s${ordinal}`);
    // Few people have many publications.
    const person = Math.floor((this.publications / 2) * this.random.next() ** 2);
    const words = [person % 1999, 2000 + ((person * 31) % 2000)].map((word) => this.words[word]!);
    const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(' ');
    this.add(publication, `${dblp}hasSignature`, own);
    this.add(publication, `${dblp}createdBy`, iri(`https://dblp.org/pid/${person}`));
    if (this.random.next() < 0.9) this.add(publication, `${dblp}authoredBy`, iri(`https://dblp.org/pid/${person}`));
    this.add(own, `${rdf}type`, iri(`${dblp}Signature`));
    this.add(own, `${dblp}signatureDblpName`, person % 10 === 0 ? `"${name}"@en` : literal(name));
    this.add(own, `${dblp}signatureOrdinal`, literal(String(ordinal), 'integer'));
    this.add(own, `${dblp}signaturePublication`, publication);
  }
}

/** Returns the graphs with the lines of their triples, about so many in total. */
export const dblpGraphs = (triples: number): Generator<readonly [graph: string, lines: readonly string[]]> =>
  new Dblp(Math.ceil(triples / triplesPerPublication)).graphs();
