/** The console: access control lists, seen and changed in a browser. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
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
    const said = (text: string): Locator => page.locator('.notice', { hasText: text });
    const focused = (): Promise<string> =>
      page.evaluate('document.activeElement === document.body ? "" : document.activeElement.textContent.trim()');

    /** Waits for a message, and takes it off the page. */
    async function heard(text: string): Promise<void> {
      await said(text).first().waitFor();
      await page.evaluate("for (const button of document.querySelectorAll('.notice button')) button.click()");
    }

    /** A container with rules of its own beside the owner's. */
    async function container(name: string, ...others: readonly string[]): Promise<void> {
      await send('PUT', name, asContainer);
      const own = `[] a acl:Authorization ; acl:agent <${me}> ; acl:accessTo <> ; acl:default <> ; acl:mode acl:Read, acl:Write, acl:Control .`;
      const made = await send('PUT', `${name}.acl`, { 'Content-Type': 'text/turtle' }, turtleOf(own, ...others));
      expect(made.status, made.text).to.be.oneOf([201, 204]);
      await console.go(page, at(name));
      await rules().getByText('This resource has its own rules.').waitFor();
    }

    it('shows the rules that are inherited, and has them copied to be changed', async () => {
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
      await rules().getByText('This resource has its own rules.').waitFor();
      expect(await focused()).to.equal('Rules');
      expect(await box(/^Control for .*\(you\)/).isChecked()).to.equal(true);
      expect(await acl('plain/')).to.contain(me);
      await heard('now has its own rules');
    });

    it('adds people by name, changes what they may do, and lets them go', async () => {
      await container('people/');
      await rules().getByLabel('Person, by name or IRI').fill(bob.did);
      await rules().getByLabel('What to call them here').fill('Bob');
      await rules().getByRole('checkbox', { name: 'Append', exact: true }).check();
      await rules().getByRole('button', { name: 'Add' }).click();
      await heard('The rules are saved.');
      expect(await box('Read for Bob').isChecked()).to.equal(true);
      expect(await box('Append for Bob').isChecked()).to.equal(true);
      expect(await box('Write for Bob').isChecked()).to.equal(false);
      const light = await axeFindings(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([...light, ...(await axeFindings(page))]).to.deep.equal([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await box('Append for Bob').click();
      await heard('The rules are saved.');
      expect(await box('Append for Bob').isChecked()).to.equal(false);
      expect(await acl('people/')).not.to.contain('Append');
      // Drawn anew after each answer, the list may miss a click that comes in between.
      for (let tries = 0; tries < 5 && (await box('Read for Bob').count()) > 0; tries++) {
        await box('Read for Bob').click();
        await box('Read for Bob')
          .waitFor({ state: 'detached', timeout: 5_000 })
          .catch(() => {});
      }
      expect(await box('Read for Bob').count()).to.equal(0);
      expect(await focused()).to.equal('Rules');
      expect(await acl('people/')).not.to.contain(bob.did);
      await heard('The rules are saved.');
    });

    it('opens a container to everybody, and to whoever is signed in', async () => {
      await container('open/');
      const nobody = await console.person();
      const listing = `browse?at=${encodeURIComponent(`${console.server.root}open/`)}`;
      await nobody.goto(console.at(listing));
      await nobody.getByRole('alert').waitFor();
      for (const name of ['Everybody', 'All signed-in users']) {
        await rules().getByRole('combobox', { name: 'For', exact: true }).selectOption({ label: name });
        await rules().getByRole('button', { name: 'Add' }).click();
        await heard('The rules are saved.');
        expect(await box(`Read for ${name}`).isChecked()).to.equal(true);
      }
      await nobody.reload();
      await nobody.locator('.empty').waitFor();
      await nobody.goto(console.at(at('open/')));
      await nobody.getByText('Only who has Control').waitFor();
    });

    it('changes the row of a group, and keeps a rule that no row can show', async () => {
      const group = 'http://people.example/lab#us';
      const app = `${rule('Read', anybody).slice(0, -1)} ; acl:origin <https://app.example> .`;
      await container('group/', rule('Read', `acl:agentGroup <${group}>`), app);
      await rules().getByText('One more rule says').waitFor();
      await box('Write for the group us').click();
      await heard('The rules are saved.');
      expect(await box('Write for the group us').isChecked()).to.equal(true);
      const written = await acl('group/');
      expect(written).to.contain('https://app.example');
      expect(written).to.match(
        /agentGroup> <http:\/\/people\.example\/lab#us>|agentGroup <http:\/\/people\.example\/lab#us>/,
      );
      expect(await rules().locator('tbody th').count()).to.equal(2);
    });

    it('does not write over what somebody else changed, and shows it', async () => {
      await container('race/', rule('Read', agent(bob)));
      await box(/^Write for did:key/)
        .first()
        .waitFor();
      const etag = (await send('GET', 'race/.acl', { Accept: 'text/turtle' })).headers['etag']!;
      const other = `${await acl('race/')}\n<#more> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agentClass> <http://xmlns.com/foaf/0.1/Agent> ; <http://www.w3.org/ns/auth/acl#accessTo> <${console.server.root}race/> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> .`;
      expect(
        (await send('PUT', 'race/.acl', { 'Content-Type': 'text/turtle', 'If-Match': etag }, other)).status,
      ).to.equal(204);
      const write = rules().locator('tr', { hasText: bob.did }).getByRole('checkbox', { name: 'Write' });
      await write.click();
      await heard('Another user changed these rules');
      await box('Read for Everybody').waitFor();
      expect(await write.isChecked()).to.equal(false);
      await write.click();
      await heard('The rules are saved.');
      expect(await write.isChecked()).to.equal(true);
      expect(await acl('race/')).to.contain('foaf');
    });

    it('warns before one locks oneself out, and does it only when told to', async () => {
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
      await heard('The rules are saved.');
      expect(await acl('lock/')).not.to.contain('Control');
      // Who controls the root can undo it.
      await rules().getByText('This resource has its own rules.').waitFor();
    });

    it('removes rules, after which those of the container above count', async () => {
      await container('again/', rule('Read', agent(bob)));
      await rules().getByRole('button', { name: 'Remove these rules' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await rules().getByText('No own rules.').waitFor();
      expect(await focused()).to.equal('Rules');
      expect((await send('GET', 'again/.acl')).status).to.equal(404);
      await heard('apply again');
    });

    it('says what is wrong with a rule, and leaves the rules of the root in place', async () => {
      await console.go(page, at(''));
      await rules().getByText('This resource has its own rules.').waitFor();
      expect(await rules().getByRole('button', { name: 'Remove these rules' }).count()).to.equal(0);
      await rules().getByLabel('Person, by name or IRI').fill('Nemo');
      await rules().getByRole('button', { name: 'Add' }).click();
      await heard('Nemo is neither a known name nor an IRI');
      await rules().getByLabel('Person, by name or IRI').fill(bob.did);
      await rules().getByRole('checkbox', { name: 'Read', exact: true }).uncheck();
      await rules().getByRole('button', { name: 'Add' }).click();
      await heard('Select at least one action');
      expect(await acl('')).not.to.contain(bob.did);
    });

    it('was never against its policy, and asked nobody else', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
