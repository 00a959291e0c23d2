/** soukai-solid: models of documents and containers. */
import { bootModels, FieldType, setEngine } from 'soukai';
import { bootSolidModels, SolidContainer, SolidEngine, SolidModel } from 'soukai-solid';
import { type Journey, must, mustFail } from './journey.js';

class Person extends SolidModel {
  static override rdfContexts = { foaf: 'http://xmlns.com/foaf/0.1/' };
  static override rdfsClasses = ['foaf:Person'];
  static override fields = {
    name: { type: FieldType.String, required: true, rdfProperty: 'foaf:name' },
    nick: { type: FieldType.String, rdfProperty: 'foaf:nick' },
  } as never;
  declare name: string;
  declare nick: string | undefined;
}

bootSolidModels();
bootModels({ Person, SolidContainer } as never);

/** Its models have one engine for all. */
const as = (fetch: typeof globalThis.fetch): void => setEngine(new SolidEngine(fetch as never) as never);

const aclOf = (owner: string): string => `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
  <#owner> a acl:Authorization ; acl:agent <${owner}> ; acl:accessTo <./> ; acl:default <./> ; acl:mode acl:Read, acl:Write, acl:Control .`;

const ada = (container: string): string => `${container}people/ada#it`;

export const soukai: Journey = {
  async create({ container, fetch, strangers }) {
    as(fetch);
    // Below a container that is not there yet.
    await new Person({ url: ada(container), name: 'Ada' }).save(`${container}people/`);
    must((await fetch(`${container}people/ada`)).status === 200, 'the document is there');
    as(strangers);
    await mustFail(new Person({ url: `${container}people/eve#it`, name: 'Eve' }).save(), 'what a stranger creates');
  },
  async read({ container, fetch, strangers }) {
    as(fetch);
    must((await Person.find(ada(container)))?.name === 'Ada', 'the name is read');
    as(strangers);
    must((await Person.find(ada(container))) === null, 'nothing is read by a stranger');
  },
  async list({ container, fetch }) {
    as(fetch);
    const people = await Person.from(`${container}people/`).all();
    must(people.length === 1 && people[0]!.name === 'Ada', `the people are listed: ${people.length}`);
  },
  async change({ container, fetch, strangers }) {
    as(fetch);
    const person = (await Person.find(ada(container)))!;
    await person.update({ name: 'Ada Lovelace', nick: 'Countess' });
    const again = await Person.find(ada(container));
    must(again?.name === 'Ada Lovelace' && again.nick === 'Countess', 'the change is there');
    as(strangers);
    await mustFail(person.update({ name: 'Eve' }), 'what a stranger changes');
  },
  async share({ container, owner, fetch, strangers }) {
    as(fetch);
    // It looks for the list above a document as far as the root, whose own it does not find; a pod has one further down.
    await fetch(`${container}.acl`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body: aclOf(owner) });
    const person = (await Person.find(ada(container)))!;
    await person.fetchPublicPermissions();
    must(person.isPublic === false, 'it is private');
    await person.updatePublicPermissions(['read'] as never);
    must((await strangers(`${container}people/ada`)).status === 200, 'it is shared');
    as(fetch);
    const shared = (await Person.find(ada(container)))!;
    await shared.fetchPublicPermissions();
    must(shared.isPublic === true, 'it is public');
    as(strangers);
    await mustFail(shared.updatePublicPermissions(['read', 'write'] as never), 'permissions that a stranger changes');
    // It looks for the authorization in the document itself, of which relative IRIs of a list are (rule 3.2): deleted is the list.
    must((await fetch(`${container}people/ada.acl`, { method: 'DELETE' })).status === 204, 'the list is deleted');
    must((await strangers(`${container}people/ada`)).status === 403, 'it is no longer shared');
    must((await fetch(`${container}people/ada`)).status === 200, 'its owner has it still');
  },
  async delete({ container, fetch, strangers }) {
    as(fetch);
    const person = (await Person.find(ada(container)))!;
    // What it may not read it takes for deleted, and asks for nothing.
    as(strangers);
    await person.delete();
    must((await fetch(`${container}people/ada`)).status === 200, 'it is there still');
    as(fetch);
    await (await Person.find(ada(container)))!.delete();
    must((await fetch(`${container}people/ada`)).status === 404, 'the document is gone');
  },
};
