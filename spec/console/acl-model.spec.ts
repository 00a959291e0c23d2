/** Console: conversion between an access control list and the table of agents and modes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildSync } from 'esbuild';
import type { Quad } from 'n3';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { agent, alice, bob, rule, turtleOf } from '../support/wac.js';

interface Row {
  readonly kind: string;
  readonly iri: string;
  readonly scope: string;
  readonly modes: readonly string[];
}
interface Model {
  parseAcl(turtle: string, of: string): Quad[];
  writeAcl(quads: readonly Quad[]): Promise<string>;
  tableOf(quads: readonly Quad[], of: string): { rows: readonly Row[]; others: number };
  withRow(quads: readonly Quad[], of: string, row: Row): Quad[];
  ownFrom(quads: readonly Quad[], from: string, of: string): Quad[];
  hasControl(quads: readonly Quad[], of: string, caller: { subject: string; inherited: boolean }): boolean;
}

/** Bundles the module as for browsers, in a format that Node.js can load. */
function load(): Model {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-model-'));
  const outfile = join(folder, 'model.cjs');
  try {
    const entry = join(packageRoot, 'console/src/sharing/acl-model.ts');
    buildSync({ entryPoints: [entry], outfile, bundle: true, format: 'cjs', platform: 'node', logLevel: 'error' });
    return createRequire(import.meta.url)(outfile) as Model;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const of = 'http://storage.example/data/';
const member = `${of}sub/`;
const group = 'http://storage.example/people#lab';
const foreign = `[] a acl:Authorization ; ${agent(bob)} ; acl:mode acl:Write ; acl:accessTo <> ; acl:origin <https://app.example> .`;

describe('The console, access control lists', () => {
  let model: Model;
  before(() => {
    model = load();
  });
  const parsed = (...rules: readonly string[]): Quad[] => model.parseAcl(turtleOf(...rules), of);
  const rowsOf = (quads: readonly Quad[]): readonly Row[] => model.tableOf(quads, of).rows;
  const alices = (modes: readonly string[], scope = 'both'): Row => ({ kind: 'agent', iri: alice.did, scope, modes });

  it('lists agents, classes and groups with their scope, and modes in a fixed order', () => {
    const rows = rowsOf(
      parsed(
        rule('Write', agent(alice)),
        rule('Control Read', agent(alice)),
        rule('Read', 'acl:agentClass acl:AuthenticatedAgent', 'accessTo'),
        rule('Append', `acl:agentGroup <${group}>`, 'default'),
      ),
    );
    expect(rows).to.deep.equal([
      alices(['Read', 'Write', 'Control']),
      { kind: 'agentClass', iri: 'http://www.w3.org/ns/auth/acl#AuthenticatedAgent', scope: 'here', modes: ['Read'] },
      { kind: 'agentGroup', iri: group, scope: 'below', modes: ['Append'] },
    ]);
  });

  const hidden: Readonly<Record<string, string>> = {
    'that is limited to one application': foreign,
    'that also names another resource': `[] a acl:Authorization ; ${agent(bob)} ; acl:mode acl:Read ; acl:accessTo <>, <other> .`,
    'without a target': `[] a acl:Authorization ; ${agent(bob)} ; acl:mode acl:Read .`,
    'with an unknown mode': `[] a acl:Authorization ; ${agent(bob)} ; acl:mode <urn:mode> ; acl:accessTo <> .`,
    'without acl:Authorization as type': `[] ${agent(bob)} ; acl:mode acl:Read ; acl:accessTo <> .`,
    'with a comment in it': `${rule('Read', agent(bob)).slice(0, -1)} ; <http://www.w3.org/2000/01/rdf-schema#comment> "why" .`,
  };
  for (const [title, text] of Object.entries(hidden))
    it(`hides and preserves a rule ${title}`, async () => {
      const quads = parsed(rule('Read', agent(alice)), text);
      expect(model.tableOf(quads, of)).to.deep.equal({ rows: [alices(['Read'])], others: 1 });
      const written = await model.writeAcl(model.withRow(quads, of, alices(['Write'])));
      const again = model.parseAcl(written, of);
      expect(model.tableOf(again, of)).to.deep.equal({ rows: [alices(['Write'])], others: 1 });
      const kept = new Set(again.map(({ predicate, object }) => `${predicate.value} ${object.value}`));
      const before = model
        .parseAcl(turtleOf(text), of)
        .map(({ predicate, object }) => `${predicate.value} ${object.value}`);
      expect([...kept]).to.include.members(before);
    });

  it('changes one of two agents of the same rule', () => {
    const quads = model.withRow(parsed(rule('Read', agent(alice, bob))), of, alices(['Read', 'Append']));
    expect(rowsOf(quads)).to.have.deep.members([{ ...alices(['Read']), iri: bob.did }, alices(['Read', 'Append'])]);
  });

  it('changes the modes of the resource without changing those of its members', () => {
    const quads = parsed(rule('Read', agent(alice), 'accessTo'), rule('Read', agent(alice), 'default'));
    const changed = rowsOf(model.withRow(quads, of, alices(['Write'], 'here')));
    expect(changed).to.have.deep.members([alices(['Write'], 'here'), alices(['Read'], 'below')]);
  });

  it('removes the rules of an agent without modes', () => {
    expect(model.withRow(parsed(rule('Read', agent(alice))), of, alices([]))).to.deep.equal([]);
  });

  it('copies only the inherited rules to a new list', () => {
    const quads = parsed(
      rule('Read', agent(alice), 'default'),
      rule('Write', agent(bob), 'accessTo'),
      rule('Append', `acl:agentGroup <${group}>`),
    );
    const own = model.tableOf(model.ownFrom(quads, of, member), member);
    expect(own.rows).to.deep.equal([
      alices(['Read']),
      { kind: 'agentGroup', iri: group, scope: 'both', modes: ['Append'] },
    ]);
    const file = `${of}file`;
    expect(model.tableOf(model.ownFrom(quads, of, file), file).rows.map(({ scope }) => scope)).to.deep.equal([
      'here',
      'here',
    ]);
  });

  it('finds Control of an agent or a class, except if limited to an application', () => {
    const has = (inherited: boolean, ...rules: readonly string[]): boolean =>
      model.hasControl(parsed(...rules), of, { subject: alice.did, inherited });
    expect(has(false, rule('Control', agent(alice)))).to.equal(true);
    expect(has(false, rule('Control', 'acl:agentClass acl:AuthenticatedAgent'))).to.equal(true);
    expect(has(false, rule('Read Write', agent(alice)))).to.equal(false);
    expect(has(false, rule('Control', agent(bob)))).to.equal(false);
    expect(has(true, rule('Control', agent(alice), 'accessTo'))).to.equal(false);
    expect(has(true, rule('Control', agent(alice), 'default'))).to.equal(true);
    expect(has(false, `${rule('Control', agent(alice)).slice(0, -1)} ; acl:origin <https://app.example> .`)).to.equal(
      false,
    );
  });
});
