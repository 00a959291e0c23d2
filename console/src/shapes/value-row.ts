/** Inputs for a value of a form. */
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { prefixedName, wellKnown } from '../editor/prefixes.js';
import { iriOf, rdfType, type Term, tagOf, termText, xsd } from '../rdf/document.js';
import { iriName } from '../storage/labels.js';
import { type Field, inputType, literalOfField } from './fields.js';
import './type-field.js';

export interface ValueRow {
  readonly field: Field;
  readonly term: Term;
  /** Accessible name. */
  readonly name: string;
  readonly set: (term: Term) => void;
  /** Name of an IRI. */
  readonly nameOf: (iri: string) => string;
  /** Label of an IRI, if it has one. */
  readonly labelOf: (iri: string) => string | undefined;
  /** Prefixes of the document. */
  readonly prefixes: Readonly<Record<string, string>>;
}

/** Renders the input of a value; a list for fields with options. */
export function valueRow(value: ValueRow): TemplateResult {
  const { field, term } = value;
  if (term.termType === 'Quad') return html`<span class="grow soft">A triple term. Edit it as text.</span>`;
  if (term.termType === 'BlankNode') return html`<span class="grow soft">A blank node. Edit it as text.</span>`;
  const datatype = field.datatype || datatypeOf(term, field);
  const isBoolean = datatype.endsWith('#boolean');
  const options = isBoolean ? ['true', 'false'].map((each) => literalOfField(each, datatype)) : field.options;
  if (options.length > 0) return optionList(value, options);
  if (isTypeOf(value)) return typeField(value);
  const label = labelOfValue(value);
  if (label !== undefined) return html`<span class="grow value">${iriName(term.value, label)}</span>`;
  return html`${input(value, datatype)}${field.languages.length > 0 ? languageInput(value, datatype) : nothing}`;
}

/** True for a type in a form without shapes, which is chosen in words. */
const isTypeOf = ({ field, term }: ValueRow): boolean =>
  field.isFree === true && field.path === rdfType && term.termType === 'NamedNode';

function typeField({ term, name, set, nameOf, prefixes }: ValueRow): TemplateResult {
  const typed = (text: string): void => set(iriOf(expanded(text, prefixes)));
  return html`<type-field class="grow" .value=${term.value} .label=${name} .nameOf=${nameOf} .set=${typed}></type-field>`;
}

/** Label that is shown instead of an IRI. */
const labelOfValue = ({ field, term, labelOf }: ValueRow): string | undefined =>
  term.termType === 'NamedNode' && field.options.length === 0 ? labelOf(term.value) : undefined;

/** Renders language, type and the address of a labelled link, folded: most values need none of them. */
export function valueDetails(value: ValueRow): TemplateResult | typeof nothing {
  const { field, name, term } = value;
  if (['BlankNode', 'Quad'].includes(term.termType) || isTypeOf(value)) return nothing;
  const datatype = field.datatype || datatypeOf(term, field);
  const address = labelOfValue(value) === undefined ? nothing : input(value, datatype);
  const language = field.options.length > 0 || field.languages.length > 0 ? nothing : languageInput(value, datatype);
  const type = field.isFree ? typeChoice(value) : nothing;
  if ([address, language, type].every((each) => each === nothing)) return nothing;
  const title = `Details of ${name}`;
  return html`<details class="more"><summary aria-label=${[title, tagOf(term)].join(' ').trim()} title=${title}>${tagOf(term) || '…'}</summary>
    <div class="row">${address}${language}${type}</div></details>`;
}

/** A plain string of a free field can get a language, so that its datatype is left out. */
const datatypeOf = ({ datatype }: Term, { isFree }: Field): string =>
  isFree ? (datatype?.value ?? '').replace(`${xsd}string`, '') : (datatype?.value ?? '');

function input({ term, name, set, prefixes }: ValueRow, datatype: string): TemplateResult {
  const { value } = term;
  const language = tagOf(term);
  const isIri = term.termType === 'NamedNode';
  const typed = ({ target }: Event): void => {
    const text = (target as HTMLInputElement).value;
    set(
      isIri ? iriOf(expanded(text.trim(), prefixes)) : literalOfField(text, language === '' ? datatype : '', language),
    );
  };
  const type = isIri ? 'text' : inputType(datatype, value);
  return value.includes('\n')
    ? html`<textarea class="grow" rows="4" aria-label=${name} .value=${value} @change=${typed}></textarea>`
    : html`<input class="grow" type=${type} step=${type === 'number' ? 'any' : type === 'text' ? nothing : 1} aria-label=${name} placeholder=${isIri ? 'https://…' : nothing}
        autocomplete="off" spellcheck=${isIri ? 'false' : 'true'} .value=${value} @change=${typed}>`;
}

/** Only plain text has a language. */
function languageInput({ field, term, name, set }: ValueRow, datatype: string): TemplateResult | typeof nothing {
  const language = tagOf(term);
  if (term.termType === 'NamedNode' || (datatype !== '' && language === '')) return nothing;
  return html`<input class="language" aria-label=${`Language of ${name}`} placeholder=${field.languages.join(', ') || 'language'} autocomplete="off" spellcheck="false" .value=${language}
    @change=${({ target }: Event) => set(literalOfField(term.value, '', (target as HTMLInputElement).value.trim()))}>`;
}

function optionList({ term, name, set, nameOf }: ValueRow, options: readonly Term[]): TemplateResult {
  const current = termText(term);
  const isKnown = term.value === '' || options.some((each) => termText(each) === current);
  const all = isKnown ? options : [term, ...options];
  const text = ({ termType, value, language }: Term): string =>
    termType === 'NamedNode' ? nameOf(value) : language ? `${value} (${language})` : value;
  const [{ termType = 'NamedNode', datatype } = {} as Term] = options;
  const none = termType === 'Literal' ? literalOfField('', datatype?.value ?? '') : iriOf('');
  const chosen = ({ target }: Event): void => set(all[(target as HTMLSelectElement).selectedIndex - 1] ?? none);
  return html`<select class="grow" aria-label=${name} @change=${chosen}><option></option>
    ${all.map((each) => html`<option .selected=${live(termText(each) === current)}>${text(each)}</option>`)}</select>`;
}

/** IRI of a prefixed name such as `schema:name`. Other text stays as it is, such as `geo:52.1,4.3`: some prefixes are also schemes. */
export function expanded(text: string, prefixes: Readonly<Record<string, string>>): string {
  const [, prefix = '', rest = ''] = /^([\w.-]*):([A-Za-z_][\w-]*)?$/.exec(text) ?? [];
  const namespace = [prefixes, wellKnown].find((each) => Object.hasOwn(each, prefix))?.[prefix];
  return namespace === undefined ? text : namespace + rest;
}

/** Prefixed name of an IRI that `expanded` turns into it again, or the IRI. */
export function nameToType(iri: string, prefixes: Readonly<Record<string, string>>): string {
  const names = [prefixedName(iri, prefixes), prefixedName(iri, wellKnown)];
  return names.find((name) => name !== undefined && expanded(name, prefixes) === iri) ?? iri;
}

/** Types of the values of a free field: words that readers know for datatypes. */
const freeTypes: Readonly<Record<string, string>> = {
  Text: '',
  'Whole number': `${xsd}integer`,
  'Decimal number': `${xsd}decimal`,
  Date: `${xsd}date`,
  'Date and time': `${xsd}dateTime`,
  'Yes or no': `${xsd}boolean`,
  Link: 'iri',
};

/** Selects the type of a value of a free field. Text that the new type cannot have stays, to be corrected. */
function typeChoice({ field, term, name, set, nameOf }: ValueRow): TemplateResult {
  const own = term.termType === 'NamedNode' ? 'iri' : term.language ? '' : datatypeOf(term, field);
  const known = Object.values(freeTypes).includes(own);
  const types = { ...freeTypes, ...(known ? {} : { [nameOf(own)]: own }) };
  const change = ({ target }: Event): void => {
    const type = types[(target as HTMLSelectElement).value] ?? '';
    set(type === 'iri' ? iriOf(term.value) : literalOfField(term.value, type));
  };
  return html`<select aria-label=${`Kind of ${name}`} @change=${change}>
    ${Object.entries(types).map(([text, type]) => html`<option value=${text} ?selected=${type === own}>${text}</option>`)}</select>`;
}
