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

/** Sets the fetch of the engine, which all models share. */
const as = (fetch: typeof globalThis.fetch): void => setEngine(new SolidEngine(fetch as never) as never);

const aclOf = (owner: string): string => `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
  <#owner> a acl:Authorization ; acl:agent <${owner}> ; acl:accessTo <./> ; acl:default <./> ; acl:mode acl:Read, acl:Write, acl:Control .`;

const ada = (container: string): string => `${container}people/ada#it`;

export const soukai: Journey = {
  async create({ container, fetch, unauthorized }) {
    as(fetch);
    // In a container that does not exist yet.
    await new Person({ url: ada(container), name: 'Ada' }).save(`${container}people/`);
    must((await fetch(`${container}people/ada`)).status === 200, 'the document exists');
    as(unauthorized);
    await mustFail(new Person({ url: `${container}people/eve#it`, name: 'Eve' }).save(), 'a creation by another agent');
  },
  async read({ container, fetch, unauthorized }) {
    as(fetch);
    must((await Person.find(ada(container)))?.name === 'Ada', 'the name is read');
    as(unauthorized);
    must((await Person.find(ada(container))) === null, 'another agent reads nothing');
  },
  async list({ container, fetch }) {
    as(fetch);
    const people = await Person.from(`${container}people/`).all();
    must(people.length === 1 && people[0]!.name === 'Ada', `the people are listed: ${people.length}`);
  },
  async change({ container, fetch, unauthorized }) {
    as(fetch);
    const person = (await Person.find(ada(container)))!;
    await person.update({ name: 'Ada Lovelace', nick: 'Countess' });
    const again = await Person.find(ada(container));
    must(again?.name === 'Ada Lovelace' && again.nick === 'Countess', 'the change is stored');
    // In the description of the container, `.meta`.
    for (const name of ['People', 'Friends']) {
      const people = (await SolidContainer.find(`${container}people/`)) as (SolidContainer & { name?: string }) | null;
      await people!.update({ name } as never);
      const renamed = (await SolidContainer.find(`${container}people/`)) as (SolidContainer & { name?: string }) | null;
      must(renamed?.name === name, `the container is named ${name}: ${renamed?.name}`);
    }
    as(unauthorized);
    await mustFail(person.update({ name: 'Eve' }), 'a change by another agent');
  },
  async share({ container, owner, fetch, unauthorized }) {
    as(fetch);
    // soukai searches upwards for a list, but does not find that of the root. Pods have one further down, so create one here.
    await fetch(`${container}.acl`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body: aclOf(owner) });
    const person = (await Person.find(ada(container)))!;
    await person.fetchPublicPermissions();
    must(person.isPublic === false, 'it is private');
    await person.updatePublicPermissions(['read'] as never);
    must((await unauthorized(`${container}people/ada`)).status === 200, 'it is shared');
    as(fetch);
    const shared = (await Person.find(ada(container)))!;
    await shared.fetchPublicPermissions();
    must(shared.isPublic === true, 'it is public');
    as(unauthorized);
    await mustFail(
      shared.updatePublicPermissions(['read', 'write'] as never),
      'a change of permissions by another agent',
    );
    // soukai looks for the authorization in the document, because relative IRIs of a list resolve against it (rule 3.2). Delete
    // the list instead.
    must((await fetch(`${container}people/ada.acl`, { method: 'DELETE' })).status === 204, 'the list is deleted');
    must((await unauthorized(`${container}people/ada`)).status === 403, 'access is revoked');
    must((await fetch(`${container}people/ada`)).status === 200, 'the owner still has access');
  },
  async delete({ container, fetch, unauthorized }) {
    as(fetch);
    const person = (await Person.find(ada(container)))!;
    // soukai treats an unreadable document as deleted, and sends no request.
    as(unauthorized);
    await person.delete();
    must((await fetch(`${container}people/ada`)).status === 200, 'the document still exists');
    as(fetch);
    await (await Person.find(ada(container)))!.delete();
    must((await fetch(`${container}people/ada`)).status === 404, 'the document is deleted');
  },
};
