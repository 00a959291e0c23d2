/** rdflib.js: fetcher and update manager. */
import {
  type Fetcher,
  graph,
  lit,
  type NamedNode,
  Namespace,
  type Statement,
  st,
  sym,
  UpdateManager,
  Fetcher as WebFetcher,
} from 'rdflib';
import { type Journey, must, mustFail } from './journey.js';

const ldp = Namespace('http://www.w3.org/ns/ldp#');
const name = sym('http://xmlns.com/foaf/0.1/name');

function open(fetch: typeof globalThis.fetch) {
  const store = graph();
  const fetcher: Fetcher = new WebFetcher(store, { fetch: fetch as never });
  return { store, fetcher, updater: new UpdateManager(store) };
}

const saying = (document: NamedNode, text: string): Statement =>
  st(sym(`${document.value}#me`), name, lit(text), document) as Statement;

export const rdflib: Journey = {
  async create({ container, fetch, unauthorized }) {
    const { fetcher, updater } = open(fetch);
    const document = sym(`${container}ada`);
    await fetcher.webOperation('PUT', container, { contentType: 'text/turtle' } as never);
    await fetcher.load(document).catch(() => {});
    await updater.update([], [saying(document, 'Ada')]);
    // Not with the update manager: it throws an exception that cannot be caught if its first read of a document returns 403.
    const theirs = open(unauthorized).fetcher.webOperation('PUT', `${container}theirs`, {
      contentType: 'text/turtle',
      data: '<> a <#C> .',
    } as never);
    await mustFail(theirs, 'a creation by another agent');
  },
  async read({ container, fetch, unauthorized }) {
    const { store, fetcher } = open(fetch);
    const document = sym(`${container}ada`);
    await fetcher.load(document);
    must(store.anyValue(sym(`${document.value}#me`), name) === 'Ada', 'the name is read');
    await mustFail(open(unauthorized).fetcher.load(document), 'a read by another agent');
  },
  async list({ container, fetch }) {
    const { store, fetcher } = open(fetch);
    await fetcher.load(sym(container));
    const members = store.each(sym(container), ldp('contains')).map(({ value }) => value);
    must(JSON.stringify(members) === JSON.stringify([`${container}ada`]), `the member is listed: ${members}`);
  },
  async change({ container, fetch }) {
    const { store, fetcher, updater } = open(fetch);
    const document = sym(`${container}ada`);
    await fetcher.load(document);
    await updater.update([saying(document, 'Ada')], [saying(document, 'Ada Lovelace')]);
    const again = open(fetch);
    await again.fetcher.load(document);
    must(again.store.anyValue(sym(`${document.value}#me`), name) === 'Ada Lovelace', 'the change is stored');
    must(store.anyValue(sym(`${document.value}#me`), name) === 'Ada Lovelace', 'the change is in the local graph');
  },
  async share({ container, owner, fetch, unauthorized }) {
    // rdflib has no API for access control: applications write the list like any other document.
    const { fetcher } = open(fetch);
    const acl = (mode: string): string => `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
      <#owner> a acl:Authorization ; acl:agent <${owner}> ; acl:accessTo <${container}ada> ; acl:mode acl:Read, acl:Write, acl:Control .
      <#public> a acl:Authorization ; acl:agentClass <http://xmlns.com/foaf/0.1/Agent> ; acl:accessTo <${container}ada> ; acl:mode acl:${mode} .`;
    const put = (mode: string, headers: object) =>
      fetcher.webOperation('PUT', `${container}ada.acl`, {
        contentType: 'text/turtle',
        data: acl(mode),
        headers,
      } as never);
    await put('Read', {});
    await open(unauthorized).fetcher.load(sym(`${container}ada`));
    await mustFail(
      open(unauthorized).fetcher.webOperation('PUT', `${container}ada.acl`, {
        contentType: 'text/turtle',
        data: acl('Write'),
      } as never),
      'a change of the list by another agent',
    );
    await fetcher.webOperation('DELETE', `${container}ada.acl`);
    await mustFail(open(unauthorized).fetcher.load(sym(`${container}ada`)), 'a read after access was revoked');
  },
  async delete({ container, fetch, unauthorized }) {
    await mustFail(open(unauthorized).fetcher.delete(`${container}ada`), 'a deletion by another agent');
    const { fetcher } = open(fetch);
    await fetcher.delete(`${container}ada`);
    await fetcher.delete(container);
    await mustFail(open(fetch).fetcher.load(sym(`${container}ada`)), 'a read after deletion');
  },
};
