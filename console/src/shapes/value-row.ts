/** Inputs for a value of a form. */
import { html, nothing, type TemplateResult } from 'lit';
import { wellKnown } from '../editor/prefixes.js';
import { iriOf, rdfType, type Term, tagOf, termText, xsd } from '../rdf/document.js';
import { type Field, inputType, literalOfField } from './fields.js';

export interface ValueRow {
  readonly field: Field;
  readonly term: Term;
  /** Accessible name. */
  readonly name: string;
  readonly set: (term: Term) => void;
  /** Name of an IRI. */
  readonly nameOf: (iri: string) => string;
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
  return options.length > 0 ? optionList(value, options) : input(value, datatype);
}

/** A plain string of a free field can get a language, so that its datatype is left out. */
const datatypeOf = ({ datatype }: Term, { isFree }: Field): string =>
  isFree ? (datatype?.value ?? '').replace(`${xsd}string`, '') : (datatype?.value ?? '');

function input({ field, term, name, set, prefixes }: ValueRow, datatype: string): TemplateResult {
  const { value } = term;
  const language = tagOf(term);
  const isIri = term.termType === 'NamedNode';
  const typed = ({ target }: Event): void => {
    const text = (target as HTMLInputElement).value;
    set(
      isIri ? iriOf(expanded(text.trim(), prefixes)) : literalOfField(text, language === '' ? datatype : '', language),
    );
  };
  const isType = field.isFree && field.path === rdfType;
  const type = isIri ? 'text' : inputType(datatype, value);
  return html`${
    value.includes('\n')
      ? html`<textarea class="grow" rows="4" aria-label=${name} .value=${value} @change=${typed}></textarea>`
      : html`<input class="grow" type=${type} step=${type === 'number' ? 'any' : type === 'text' ? nothing : 1} aria-label=${name} placeholder=${isIri ? (isType ? 'schema:Person' : 'https://…') : nothing}
          list=${isType ? 'form-classes' : nothing} autocomplete="off" spellcheck=${isIri ? 'false' : 'true'} .value=${value} @change=${typed}>`
  }
    ${
      !isIri && (datatype === '' || language !== '')
        ? html`<input class="language" aria-label=${`Language of ${name}`} placeholder=${field.languages.join(', ') || 'language'} autocomplete="off" spellcheck="false" .value=${language}
            @change=${({ target }: Event) => set(literalOfField(value, '', (target as HTMLInputElement).value.trim()))}>`
        : nothing
    }`;
}

function optionList({ term, name, set, nameOf }: ValueRow, options: readonly Term[]): TemplateResult {
  const current = termText(term);
  const isKnown = term.value === '' || options.some((each) => termText(each) === current);
  const all = isKnown ? options : [term, ...options];
  const text = ({ termType, value, language }: Term): string =>
    termType === 'NamedNode' ? nameOf(value) : language ? `${value} (${language})` : value;
  const chosen = ({ target }: Event): void => set(all[(target as HTMLSelectElement).selectedIndex - 1] ?? iriOf(''));
  return html`<select class="grow" aria-label=${name} @change=${chosen}><option></option>
    ${all.map((each) => html`<option ?selected=${termText(each) === current}>${text(each)}</option>`)}</select>`;
}

/** IRI of a prefixed name such as `schema:name`. Other text stays as it is. */
export function expanded(text: string, prefixes: Readonly<Record<string, string>>): string {
  const [, prefix = '', rest = ''] = /^([\w.-]*):(?!\/\/)(\S*)$/.exec(text) ?? [];
  const namespace = [prefixes, wellKnown].find((each) => Object.hasOwn(each, prefix))?.[prefix];
  return namespace === undefined ? text : namespace + rest;
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

/** Selects the type of a value of a free field. Text that the new type cannot have is dropped. */
export function typeChoice({ field, term, name, set, nameOf }: ValueRow): TemplateResult {
  const own = term.termType === 'NamedNode' ? 'iri' : term.language ? '' : datatypeOf(term, field);
  const known = Object.values(freeTypes).includes(own);
  const types = { ...freeTypes, ...(known ? {} : { [nameOf(own)]: own }) };
  const change = ({ target }: Event): void => {
    const type = types[(target as HTMLSelectElement).value] ?? '';
    const fits =
      type === '' ||
      (type.endsWith('#boolean') ? /^(?:true|false)$/.test(term.value) : inputType(type, term.value) !== 'text');
    set(type === 'iri' ? iriOf(term.value) : literalOfField(fits ? term.value : '', type));
  };
  return html`<select aria-label=${`Kind of ${name}`} @change=${change}>
    ${Object.entries(types).map(([text, type]) => html`<option value=${text} ?selected=${type === own}>${text}</option>`)}</select>`;
}
