/** rdflib.js: its fetcher and its update manager. */
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
  async create({ container, fetch, strangers }) {
    const { fetcher, updater } = open(fetch);
    const document = sym(`${container}ada`);
    await fetcher.webOperation('PUT', container, { contentType: 'text/turtle' } as never);
    await fetcher.load(document).catch(() => {});
    await updater.update([], [saying(document, 'Ada')]);
    // Its update manager throws where nobody can catch it, when a document that it looks at first is 403.
    const theirs = open(strangers).fetcher.webOperation('PUT', `${container}theirs`, {
      contentType: 'text/turtle',
      data: '<> a <#C> .',
    } as never);
    await mustFail(theirs, 'what a stranger creates');
  },
  async read({ container, fetch, strangers }) {
    const { store, fetcher } = open(fetch);
    const document = sym(`${container}ada`);
    await fetcher.load(document);
    must(store.anyValue(sym(`${document.value}#me`), name) === 'Ada', 'the name is read');
    await mustFail(open(strangers).fetcher.load(document), 'what a stranger reads');
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
    must(again.store.anyValue(sym(`${document.value}#me`), name) === 'Ada Lovelace', 'the change is there');
    must(store.anyValue(sym(`${document.value}#me`), name) === 'Ada Lovelace', 'the change is known');
  },
  async share({ container, owner, fetch, strangers }) {
    // It has no calls for access: applications write the list, as they write any document.
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
    await open(strangers).fetcher.load(sym(`${container}ada`));
    await mustFail(
      open(strangers).fetcher.webOperation('PUT', `${container}ada.acl`, {
        contentType: 'text/turtle',
        data: acl('Write'),
      } as never),
      'a list that a stranger writes',
    );
    await fetcher.webOperation('DELETE', `${container}ada.acl`);
    await mustFail(open(strangers).fetcher.load(sym(`${container}ada`)), 'what is no longer shared');
  },
  async delete({ container, fetch, strangers }) {
    await mustFail(open(strangers).fetcher.delete(`${container}ada`), 'what a stranger deletes');
    const { fetcher } = open(fetch);
    await fetcher.delete(`${container}ada`);
    await fetcher.delete(container);
    await mustFail(open(fetch).fetcher.load(sym(`${container}ada`)), 'what is deleted');
  },
};
