/** Constants shared by the RDF syntaxes: IRIs with a special meaning, and characters of names. */

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
const XSD = 'http://www.w3.org/2001/XMLSchema#';

export const rdf = {
  namespace: RDF,
  type: `${RDF}type`,
  first: `${RDF}first`,
  rest: `${RDF}rest`,
  nil: `${RDF}nil`,
  langString: `${RDF}langString`,
  JSON: `${RDF}JSON`,
  XMLLiteral: `${RDF}XMLLiteral`,
} as const;

export const xsd = {
  namespace: XSD,
  string: `${XSD}string`,
  boolean: `${XSD}boolean`,
  integer: `${XSD}integer`,
  decimal: `${XSD}decimal`,
  double: `${XSD}double`,
} as const;

const LETTERS =
  'A-Za-z\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF' +
  '\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}';

/** Character classes for regular expressions with the flag `u`. `inner` ends in a hyphen, so it must be last in its class. */
export const nameCharacters = {
  /** PN_CHARS_BASE of Turtle; with `_`, the first character of an XML NCName. */
  letters: LETTERS,
  /** PN_CHARS of Turtle; with `.`, the characters of an XML NCName. */
  inner: `${LETTERS}_0-9\\xB7\\u0300-\\u036F\\u203F\\u2040-`,
} as const;

const LDP = 'http://www.w3.org/ns/ldp#';
const LWS = 'https://www.w3.org/ns/lws#';
const DCTERMS = 'http://purl.org/dc/terms/';
const STAT = 'http://www.w3.org/ns/posix/stat#';
const SCHEMA = 'http://schema.org/';

export const ldp = {
  Resource: `${LDP}Resource`,
  Container: `${LDP}Container`,
  BasicContainer: `${LDP}BasicContainer`,
  RDFSource: `${LDP}RDFSource`,
  NonRDFSource: `${LDP}NonRDFSource`,
  namespace: LDP,
  contains: `${LDP}contains`,
  DirectContainer: `${LDP}DirectContainer`,
  IndirectContainer: `${LDP}IndirectContainer`,
} as const;

export const lws = {
  namespace: LWS,
  Container: `${LWS}Container`,
  DataResource: `${LWS}DataResource`,
  Storage: `${LWS}Storage`,
  items: `${LWS}items`,
  totalItems: `${LWS}totalItems`,
  storage: `${LWS}storage`,
} as const;

export const dcterms = { namespace: DCTERMS, format: `${DCTERMS}format`, modified: `${DCTERMS}modified` } as const;
export const stat = { namespace: STAT, size: `${STAT}size` } as const;
export const schema = { namespace: SCHEMA, size: `${SCHEMA}size` } as const;

const ACL = 'http://www.w3.org/ns/auth/acl#';

export const acl = {
  namespace: ACL,
  Authorization: `${ACL}Authorization`,
  AuthenticatedAgent: `${ACL}AuthenticatedAgent`,
  accessTo: `${ACL}accessTo`,
  default: `${ACL}default`,
  agent: `${ACL}agent`,
  agentClass: `${ACL}agentClass`,
  agentGroup: `${ACL}agentGroup`,
  origin: `${ACL}origin`,
  mode: `${ACL}mode`,
  Read: `${ACL}Read`,
  Append: `${ACL}Append`,
  Write: `${ACL}Write`,
  Control: `${ACL}Control`,
} as const;

export const foaf = { Agent: 'http://xmlns.com/foaf/0.1/Agent' } as const;
export const vcard = { hasMember: 'http://www.w3.org/2006/vcard/ns#hasMember' } as const;
