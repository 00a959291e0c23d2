/** Shapes in a storage with several servers: links and documents that one server writes apply to writes of the others (rule 23.1). */
import { expect } from 'chai';
import { credential, ed25519Identity } from '../../support/identity.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { constrainedBy, person, personShapes } from '../../support/shapes.js';
import { Cluster } from '../shared-storage/cluster.js';

const turtle = { 'Content-Type': 'text/turtle' };
const linkset = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
const owner = ed25519Identity();
const wrongAge = person('ex:name "Ada" ; ex:age "x"');

describe('Shapes with three servers', function () {
  this.timeout(60_000);
  let postgres: Postgres;
  let cluster: Cluster;
  before(async function () {
    postgres = await postgresFor(this);
    cluster = await Cluster.start(3, {
      ...postgres.settings('shapes'),
      ...{ 'shapes.enabled': 'true', 'dev.open': 'false', owners: owner.did },
    });
  });
  after(async () => {
    await cluster?.end();
    await postgres?.dispose();
  });

  it('applies links and documents of another server at once, and their removal (rule 23.1)', async () => {
    const { root, servers } = cluster;
    const Authorization = `Bearer ${credential(owner, { aud: root.slice(0, -1) })}`;
    const put = async (
      at: number,
      path: string,
      fields?: Readonly<Record<string, string>>,
      body?: string,
    ): Promise<number> => (await servers[at]!.ask('PUT', path, { ...fields, Authorization }, body)).status;
    expect(await put(0, 'shapes', turtle, personShapes)).to.equal(201);
    expect(await put(1, 'c/')).to.equal(201);
    const links = { linkset: [{ [constrainedBy]: [{ href: `${root}shapes` }] }] };
    expect(await put(2, 'c/.meta', linkset, JSON.stringify(links))).to.equal(204);
    for (const at of servers.keys()) {
      expect(await put(at, `c/bad${at}`, turtle, wrongAge)).to.equal(422);
      expect(await put(at, `c/good${at}`, turtle, person())).to.equal(201);
    }
    const relaxed = personShapes.replace('xsd:integer', 'xsd:string');
    expect(await put(1, 'shapes', { ...turtle, 'If-Match': '*' }, relaxed)).to.equal(204);
    expect(await put(2, 'c/text', turtle, wrongAge)).to.equal(201);
    const number = person('ex:name "Ada" ; ex:age 7');
    expect(await put(0, 'c/number', turtle, number)).to.equal(422);
    expect(await put(0, 'c/.meta', linkset, '{"linkset":[]}')).to.equal(204);
    expect(await put(1, 'c/number', turtle, number)).to.equal(201);
  });
});
