/** Console: viewing and changing access control lists in a browser. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axeFindings, axeFindingsInBothModes, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { pathsOf } from '../support/places.js';
import { agent, anybody, bob, rule, turtleOf } from '../support/wac.js';

for (const path of pathsOf('The console, access control'))
  describeInBrowser(`The console, access control, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    let me: string;
    before(async () => {
      await console.start({ path, settings: { 'access-control': 'wac' } });
      page = await console.owner();
      me = (await page.locator('.who span').getAttribute('title'))!;
    });
    after(() => console.stop());

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });
    const at = (name: string): string => `sharing?at=${encodeURIComponent(console.server.root + name)}`;
    const acl = async (name: string): Promise<string> =>
      (await send('GET', `${name}.acl`, { Accept: 'text/turtle' })).text;
    const rules = (of: Page = page): Locator => of.locator('share-acl');
    const box = (name: string | RegExp): Locator => rules().getByRole('checkbox', { name });
    const notice = (text: string): Locator => page.locator('.notice', { hasText: text });
    const focused = (): Promise<string> =>
      page.evaluate('document.activeElement === document.body ? "" : document.activeElement.textContent.trim()');

    /** Waits for a notice, then closes all notices. */
    async function dismiss(text: string): Promise<void> {
      await notice(text).first().waitFor();
      await page.evaluate("for (const button of document.querySelectorAll('.notice button')) button.click()");
    }

    /** Creates a container with the owner's rule and additional rules, and opens its sharing page. */
    async function container(name: string, ...others: readonly string[]): Promise<void> {
      await send('PUT', name, asContainer);
      const own = `[] a acl:Authorization ; acl:agent <${me}> ; acl:accessTo <> ; acl:default <> ; acl:mode acl:Read, acl:Write, acl:Control .`;
      const made = await send('PUT', `${name}.acl`, { 'Content-Type': 'text/turtle' }, turtleOf(own, ...others));
      expect(made.status, made.text).to.be.oneOf([201, 204]);
      await console.go(page, at(name));
      await rules().getByText('This item has its own rules.').waitFor();
    }

    it('shows inherited rules and copies them into a list of its own', async () => {
      await send('PUT', 'plain/', asContainer);
      await send('PUT', 'plain/file', { 'Content-Type': 'text/plain' }, 'hello');
      for (const name of ['plain/file', 'plain/']) {
        await console.go(page, at(name));
        await rules().getByText('No own rules.').waitFor();
        expect(await rules().getByRole('link').textContent()).to.equal(console.server.root);
        expect(await box(/^Control for .*\(you\)/).isDisabled()).to.equal(true);
      }
      expect(await axeFindings(page)).to.deep.equal([]);
      await rules().getByRole('button', { name: 'Create own rules' }).click();
      await rules().getByText('This item has its own rules.').waitFor();
      expect(await focused()).to.equal('Rules');
      expect(await box(/^Control for .*\(you\)/).isChecked()).to.equal(true);
      expect(await acl('plain/')).to.contain(me);
      await dismiss('now has its own rules');
    });

    it('adds a person by name, changes their modes and removes them', async () => {
      await container('people/');
      await rules().getByLabel('Person, by name or address').fill(bob.did);
      await rules().getByLabel('Call them').fill('Bob');
      await rules().getByRole('checkbox', { name: 'Append', exact: true }).check();
      await rules().getByRole('button', { name: 'Add' }).click();
      await dismiss('The rules are saved.');
      expect(await box('Read for Bob').isChecked()).to.equal(true);
      expect(await box('Append for Bob').isChecked()).to.equal(true);
      expect(await box('Write for Bob').isChecked()).to.equal(false);
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      await box('Append for Bob').click();
      await dismiss('The rules are saved.');
      expect(await box('Append for Bob').isChecked()).to.equal(false);
      expect(await acl('people/')).not.to.contain('Append');
      // The list is redrawn after each response, so a click may be lost.
      for (let tries = 0; tries < 5 && (await box('Read for Bob').count()) > 0; tries++) {
        await box('Read for Bob').click();
        await box('Read for Bob')
          .waitFor({ state: 'detached', timeout: 5_000 })
          .catch(() => {});
      }
      expect(await box('Read for Bob').count()).to.equal(0);
      expect(await focused()).to.equal('Rules');
      expect(await acl('people/')).not.to.contain(bob.did);
      await dismiss('The rules are saved.');
    });

    it('grants access to the public and to all signed-in users', async () => {
      await container('open/');
      const anonymous = await console.person();
      const listing = `browse?at=${encodeURIComponent(`${console.server.root}open/`)}`;
      await anonymous.goto(console.at(listing));
      await anonymous.locator('.refused').waitFor();
      for (const name of ['Everybody', 'All signed-in users']) {
        await rules().getByRole('combobox', { name: 'For', exact: true }).selectOption({ label: name });
        await rules().getByRole('button', { name: 'Add' }).click();
        await page.getByRole('dialog').getByText(`Give access to ${name.toLowerCase()}?`).waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Give access' }).click();
        await dismiss('The rules are saved.');
        expect(await box(`Read for ${name}`).isChecked()).to.equal(true);
        await box(`Write for ${name}`).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
        // The table is redrawn after the dialog has closed.
        await box(`Write for ${name}`).and(page.locator(':not(:checked)')).waitFor();
      }
      await anonymous.reload();
      await anonymous.locator('.empty').waitFor();
      await anonymous.goto(console.at(at('open/')));
      await anonymous.getByText('Only people with Control').waitFor();
    });

    it('changes the row of a group and preserves a rule that the table cannot show', async () => {
      const group = 'http://people.example/lab#us';
      const app = `${rule('Read', anybody).slice(0, -1)} ; acl:origin <https://app.example> .`;
      await container('group/', rule('Read', `acl:agentGroup <${group}>`), app);
      await rules().getByText('One more rule says').waitFor();
      await box('Write for the group us').click();
      await dismiss('The rules are saved.');
      expect(await box('Write for the group us').isChecked()).to.equal(true);
      const written = await acl('group/');
      expect(written).to.contain('https://app.example');
      expect(written).to.match(
        /agentGroup> <http:\/\/people\.example\/lab#us>|agentGroup <http:\/\/people\.example\/lab#us>/,
      );
      expect(await rules().locator('tbody th').count()).to.equal(2);
    });

    it('does not overwrite rules that another user changed, and shows the new rules', async () => {
      await container('race/', rule('Read', agent(bob)));
      await box(/^Write for Owner/)
        .first()
        .waitFor();
      const etag = (await send('GET', 'race/.acl', { Accept: 'text/turtle' })).headers['etag']!;
      const other = `${await acl('race/')}\n<#more> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <http://www.w3.org/ns/auth/acl#accessTo> <${console.server.root}race/> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> .`;
      expect(
        (await send('PUT', 'race/.acl', { 'Content-Type': 'text/turtle', 'If-Match': etag }, other)).status,
      ).to.equal(204);
      const write = rules().locator('tr', { hasText: bob.did }).getByRole('checkbox', { name: 'Write' });
      await write.click();
      await dismiss('Another user changed these rules');
      await box('Read for Everybody').waitFor();
      expect(await write.isChecked()).to.equal(false);
      await write.click();
      await dismiss('The rules are saved.');
      expect(await write.isChecked()).to.equal(true);
      expect(await acl('race/')).to.contain('foaf');
    });

    it('asks for confirmation before a user removes their own Control', async () => {
      await container('lock/');
      const control = box(/^Control for .*\(you\)/);
      await control.click();
      await page.getByRole('dialog').getByText('Lock yourself out?').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await rules().locator('input:checked[aria-label^="Control"]').waitFor();
      expect(await acl('lock/')).to.contain('Control');
      await control.click();
      await page.getByRole('dialog').getByRole('button', { name: 'Lock myself out' }).click();
      await dismiss('The rules are saved.');
      expect(await acl('lock/')).not.to.contain('Control');
      // Control of the root container still allows the owner to undo it.
      await rules().getByText('This item has its own rules.').waitFor();
    });

    it('removes the rules of a resource, after which the inherited rules apply', async () => {
      await container('again/', rule('Read', agent(bob)));
      await rules().getByRole('button', { name: 'Remove these rules' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await rules().getByText('No own rules.').waitFor();
      expect(await focused()).to.equal('Rules');
      expect((await send('GET', 'again/.acl')).status).to.equal(404);
      await dismiss('apply again');
    });

    it('reports an invalid rule, and does not offer to remove the rules of the root', async () => {
      await console.go(page, at(''));
      await rules().getByText('This item has its own rules.').waitFor();
      expect(await rules().getByRole('button', { name: 'Remove these rules' }).count()).to.equal(0);
      await rules().getByLabel('Person, by name or address').fill('Nemo');
      await rules().getByRole('button', { name: 'Add' }).click();
      await dismiss('Nemo is neither a known name nor an IRI');
      await rules().getByLabel('Person, by name or address').fill(bob.did);
      await rules().getByRole('checkbox', { name: 'Read', exact: true }).uncheck();
      await rules().getByRole('button', { name: 'Add' }).click();
      await dismiss('Select at least one action');
      expect(await acl('')).not.to.contain(bob.did);
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
