/** Console: the tab Agents lists agents, what they did, and ends one (rule 24.11). */
import { expect } from 'chai';
import { Agent } from '../support/agents.js';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';

describeInBrowser('The console, agents', () => {
  const console = new Console();
  before(() => console.start({ path: '', settings: { 'agents.enabled': 'true' } }));
  after(() => console.stop());

  it('lists an agent with its access and last call, and ends it', async () => {
    const { root, ownerToken } = console.server;
    const owner = { Authorization: `Bearer ${ownerToken}` };
    await request(`${root}notes/`, { method: 'PUT', headers: { ...owner, ...asContainer } });
    const identity = ed25519Identity();
    const target = { type: 'StorageResource', value: [`${root}notes/`] };
    const access = [{ type: ['AccessPolicy'], action: ['read'], assignee: identity.did, target }];
    const granted = await request(`${root}.lws/access-grants`, {
      method: 'POST',
      headers: { ...owner, 'Content-Type': 'application/lws+json' },
      body: JSON.stringify({ type: ['AccessGrant'], storage: root, agent: 'librarian', access }),
    });
    expect(granted.status, granted.text).to.equal(201);
    const agent = await Agent.connect(root, credential(identity, { aud: root.slice(0, -1) }));
    await agent.text('list', { iri: '/notes/' });
    await agent.problem('read', { iri: '/absent' });
    const page = await console.owner();
    await page.goto(console.at('admin?tab=agents'));
    const table = page.getByRole('region', { name: 'Agents' });
    await table.getByText('librarian').waitFor();
    expect(await table.textContent()).to.match(/Read:.*notes\/.*until no end.*2, 1 failed\s*last: read/s);
    expect(await axeFindings(page)).to.deep.equal([]);
    await table.getByRole('button', { name: 'End the access of librarian' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.getByText('No agent has access yet.').waitFor();
    await page.getByText('agent add NAME').waitFor();
    await page.getByRole('button', { name: 'Folder or item: All of the storage' }).click();
    await page.getByRole('button', { name: 'notes', exact: true }).click();
    expect(await page.locator('[name=iri]').inputValue()).to.equal(`${root}notes/`);
    expect(await axeFindings(page)).to.deep.equal([]);
    expect((await agent.problem('list', { iri: '/notes/' })).status).to.equal(404);
  });

  it('adds an agent after another, and reads a path as one of the storage', async () => {
    const page = await console.owner();
    await page.goto(console.at('admin?tab=agents'));
    await page.getByText('No agent has access yet.').waitFor();
    for (const name of ['first', 'second']) {
      if (!(await page.getByLabel('Identity').isVisible())) await page.getByText('Add an agent').click();
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('Identity').fill(ed25519Identity().did);
      if (name === 'second') {
        await page.getByRole('button', { name: 'Folder or item: All of the storage' }).click();
        await page.locator('[name=iri]').fill('/notes/');
      }
      await page.getByRole('button', { name: 'Add the agent' }).click();
      await page.getByRole('region', { name: 'Agents' }).getByText(name, { exact: true }).waitFor();
    }
    expect(await page.getByRole('region', { name: 'Agents' }).textContent()).to.match(/second.*notes\//s);
  });
});
