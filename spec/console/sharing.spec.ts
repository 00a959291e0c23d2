/** Console: requesting, granting and revoking access, by two users in two browsers. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axeFindings, axeFindingsInBothModes, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { pathsOf } from '../support/places.js';

for (const path of pathsOf('The console, sharing'))
  describeInBrowser(`The console, sharing, at ${path || '/'}`, () => {
    const console = new Console();
    /** Pages of the owner and of a user without any grant at first. */
    let owner: Page;
    let bea: Page;
    before(async () => {
      await console.start({ path });
      for (const name of ['data/', 'data/sub/']) await send('PUT', name, asContainer);
      owner = await console.owner();
      bea = await console.person({ colorScheme: 'dark' });
    });
    after(() => console.stop());

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });
    const at = (page: string, name: string): string => `${page}?at=${encodeURIComponent(console.server.root + name)}`;
    const grants = (page: Page): Locator => page.getByRole('region', { name: 'People with access' });
    const card = (purpose: string): Locator => owner.locator('request-card', { hasText: purpose });
    const notice = (page: Page, text: string): Locator => page.locator('.notice', { hasText: text });
    const focused = (page: Page): Promise<string> =>
      page.evaluate('document.activeElement === document.body ? "" : document.activeElement.textContent.trim()');

    /** Waits for a notice, then closes all notices. */
    async function dismiss(page: Page, text: string): Promise<void> {
      await notice(page, text).last().waitFor();
      await page.evaluate("for (const button of document.querySelectorAll('.notice button')) button.click()");
    }

    async function asks(purpose: string, actions: readonly string[] = []): Promise<void> {
      await console.go(bea, at('browse', ''));
      await console.go(bea, 'requests?tab=ask');
      await bea.getByLabel('Paste the link').fill(console.at(at('browse', 'data/')));
      for (const action of actions) await bea.getByLabel(action, { exact: true }).check();
      await bea.getByLabel('What for').fill(purpose);
      await bea.getByRole('button', { name: 'Request access', exact: true }).click();
      await notice(bea, 'The request was sent.').last().waitFor();
      await bea.getByRole('region', { name: 'My requests' }).waitFor();
    }

    /** Opens the list of requests anew. */
    async function inbox(): Promise<void> {
      await console.go(owner, 'admin?tab=explain');
      await console.go(owner, 'requests');
      await owner.getByRole('tab', { name: 'To answer' }).click();
    }

    /** Opens the details of the form for access. */
    const more = (): Promise<void> => owner.locator('.give summary').click();

    async function revoke(): Promise<void> {
      await owner.getByRole('button', { name: 'Revoke the access of' }).click();
      await owner.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await owner.getByText('Nobody yet, except owners').waitFor();
      expect(await focused(owner)).to.equal('Shared with');
      await dismiss(owner, 'The grant is revoked.');
    }

    it('creates an identity, and leads from denied access to the request form', async () => {
      await bea.goto(console.at('signin'));
      await bea.getByRole('button', { name: 'Continue with this browser' }).click();
      await bea.locator('.who >> text=This browser').waitFor();
      await console.go(bea, at('browse', 'data/'));
      await bea.locator('.refused').waitFor();
      await bea.getByRole('link', { name: 'Request access' }).click();
      expect(await bea.getByLabel('Paste the link').inputValue()).to.equal(`${console.server.root}data/`);
      expect(await axeFindings(bea)).to.deep.equal([]);
      await bea.getByLabel('Change').check();
      await bea.getByLabel('Add', { exact: true }).check();
      await bea.getByRole('heading', { name: 'Request access to the folder data' }).waitFor();
      await bea.getByRole('group', { name: 'I would like to' }).getByLabel('Read').waitFor();
      expect(await bea.locator('ask-form textarea').count(), 'one question').to.equal(1);
      await bea.getByLabel('What for').fill('Replication. I am Bea <b>of</b> the lab');
      await bea.getByRole('button', { name: 'Request access', exact: true }).click();
      await bea.getByRole('cell', { name: 'Waiting' }).waitFor();
      expect(await axeFindings(bea)).to.deep.equal([]);
    });

    it('shows a request to the owner, and accepts it in part', async () => {
      await console.go(owner, 'requests');
      await owner.getByText('I am Bea <b>of</b> the lab').waitFor();
      expect(await axeFindingsInBothModes(owner)).to.deep.equal([]);
      expect(await owner.locator('request-card summary').first().innerText()).to.equal(
        'Can read, add, change, without an end Change',
      );
      await owner.locator('request-card summary', { hasText: 'Change' }).click();
      await owner.getByLabel('Change').uncheck();
      await owner.getByLabel('Add', { exact: true }).uncheck();
      await owner.getByLabel('Call them').fill('Bea');
      expect(await owner.getByLabel('Until').isVisible()).to.equal(false);
      await owner.getByLabel('Ends').selectOption('At a date …');
      await owner.getByLabel('Until').fill('2099-01-01T12:00');
      await owner.getByRole('button', { name: 'Accept' }).click();
      await owner.getByText('All are answered.').waitFor();
      expect(await card('Replication').textContent()).to.match(
        /Bea asks to read, add, change\s[\s\S]*data\/[\s\S]*and everything in it[\s\S]*Accepted\./,
      );
      expect(await focused(owner)).to.equal('Requests for access');
    });

    it('applies a grant and lists it to its recipient', async () => {
      await console.go(bea, at('browse', 'data/'));
      await bea.getByRole('cell', { name: 'sub', exact: true }).waitFor();
      await console.go(bea, 'requests');
      await bea.getByRole('tab', { name: 'Mine' }).click();
      await bea.getByRole('cell', { name: 'Accepted' }).waitFor();
      const granted = bea.getByRole('region', { name: 'What I have been granted' });
      expect(await granted.textContent()).to.match(/Read[\s\S]*for: Replication[\s\S]*2099/);
      expect(await granted.textContent()).not.to.match(/Change|Add/);
      expect(await axeFindings(bea)).to.deep.equal([]);
    });

    it('revokes access immediately and drops answered requests', async () => {
      await console.go(owner, at('sharing', 'data/'));
      await grants(owner).getByText('Bea', { exact: true }).waitFor();
      expect(await axeFindingsInBothModes(owner)).to.deep.equal([]);
      await owner.getByRole('button', { name: 'Revoke the access of Bea' }).click();
      await owner.getByRole('dialog').waitFor();
      await owner.keyboard.press('Escape');
      await owner.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused(owner)).to.equal('Revoke');
      await revoke();
      await console.go(bea, at('browse', 'data/sub/'));
      await bea.getByRole('link', { name: 'Request access' }).waitFor();
      await inbox();
      await owner.getByText('No access requests').waitFor();
    });

    it('grants access by name, and renames a person on the whole page', async () => {
      await console.go(owner, at('sharing', 'data/'));
      await owner.getByLabel('Person, by name or address').fill('bea');
      await more();
      await owner
        .getByRole('combobox', { name: 'To', exact: true })
        .selectOption({ label: 'the folder data and everything in it' });
      await owner.getByRole('button', { name: 'Give access' }).click();
      await grants(owner).getByText('Bea', { exact: true }).waitFor();
      expect(await owner.getByLabel('Read', { exact: true }).isChecked(), 'selected for the next grant').to.equal(true);
      await console.go(bea, at('browse', 'data/'));
      await bea.getByRole('cell', { name: 'sub', exact: true }).waitFor();
      // The notice would cover the buttons at the end of the page.
      await dismiss(owner, 'Access is given.');
      await owner.locator('people-list summary').click();
      await owner.locator('people-list input').fill('Beatrice');
      await owner.locator('people-list input').press('Tab');
      await grants(owner).getByText('Beatrice', { exact: true }).waitFor();
      await owner.getByRole('button', { name: 'Forget Beatrice' }).click();
      await owner.getByText('No names yet').waitFor();
      expect(await focused(owner)).to.equal('People by name');
      await revoke();
    });

    it('has person, rights and end in this order, and public access folded below', async () => {
      await console.go(owner, at('sharing', 'data/'));
      await owner.getByRole('heading', { level: 1, name: 'Access to the folder data', exact: true }).waitFor();
      const form = owner.locator('form.give');
      const fields = [form.getByLabel('Person'), form.getByLabel('Read'), form.getByLabel('Ends')];
      const controls = [...fields, form.getByRole('button', { name: 'Give access' })];
      const tops = await Promise.all(controls.map(async (each) => (await each.boundingBox())!.y));
      expect(tops[0]).to.be.below(Math.min(...tops.slice(1)));
      expect(tops.at(-1)).to.be.above(Math.max(...tops.slice(0, -1)));
      const open = owner.locator('details.public');
      expect(await open.locator('form').isVisible()).to.equal(false);
      await open.getByText(/^Public access off$/).waitFor();
      expect(await form.locator('.public').count(), 'apart from the form').to.equal(0);
    });

    it('grants access to the public without an end', async () => {
      await console.go(owner, at('sharing', 'data/sub/'));
      const open = owner.locator('form.public');
      await owner.locator('.public > summary').click();
      const give = open.getByRole('button', { name: 'Make public and copy link' });
      await open.getByText('Opens the folder sub and everything in it to everybody').waitFor();
      await open.getByLabel('Everybody can').selectOption('Read and add');
      await open.getByLabel('Ends').selectOption('No end');
      await give.click();
      const dialog = owner.getByRole('dialog');
      await dialog.getByText('Everyone who can reach this server will be able to read, add the folder sub').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await grants(owner).count(), 'not confirmed').to.equal(0);
      await give.click();
      await dialog.getByRole('button', { name: 'Give access' }).click();
      expect(await grants(owner).locator('tbody tr').innerText()).to.match(/^Everybody[\s\S]*Read, Add[\s\S]*no end/);
      await owner.getByText(/^Public access on$/).waitFor();
      const anonymous = await console.person();
      await anonymous.goto(console.at(at('browse', 'data/sub/')));
      await anonymous.locator('.empty').waitFor();
      await anonymous.goto(console.at(at('browse', 'data/')));
      await anonymous.locator('.refused').waitFor();
      await revoke();
    });

    it('creates a read link that ends', async () => {
      await owner.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await console.go(owner, at('sharing', 'data/sub/'));
      const form = owner.locator('form.public');
      if (!(await form.isVisible())) await owner.locator('.public > summary').click();
      await form.getByText('It ends at the date').waitFor();
      const until = await form.getByLabel('Until').inputValue();
      expect(new Date(until).getTime() - Date.now()).to.be.within(6.9 * 86_400_000, 7.1 * 86_400_000);
      await form.getByLabel('Until').fill('2020-01-01T00:00');
      await form.getByRole('button', { name: 'Make public and copy link' }).click();
      await dismiss(owner, 'The end must be in the future.');
      await form.getByLabel('Until').fill(until);
      await form.getByRole('button', { name: 'Make public and copy link' }).click();
      await owner.getByRole('dialog').getByRole('button', { name: 'Give access' }).click();
      await dismiss(owner, 'The link is copied. It ends');
      await grants(owner).getByText('for: Public link').waitFor();
      const anonymous = await console.person();
      await anonymous.goto(String(await owner.evaluate('navigator.clipboard.readText()')));
      await anonymous.locator('.empty').waitFor();
      expect(await axeFindingsInBothModes(owner)).to.deep.equal([]);
      await revoke();
    });

    it('keeps the input of each request apart from that of others', async () => {
      await asks('First', ['Change']);
      await asks('Second', ['Change']);
      await inbox();
      await owner.getByText('2 to answer.').waitFor();
      for (const purpose of ['First', 'Second']) await card(purpose).locator('summary', { hasText: 'Change' }).click();
      await card('Second').getByLabel('Change').uncheck();
      await card('Second').getByLabel('Call them').fill('Somebody else');
      await card('Second').getByRole('button', { name: 'Refuse' }).click();
      await owner.getByRole('dialog').getByRole('button', { name: 'Refuse' }).click();
      await owner.getByText('1 to answer.').waitFor();
      await dismiss(owner, 'The request is refused.');
      await card('Second').waitFor({ state: 'detached' });
      expect(await card('First').getByLabel('Change').isChecked()).to.equal(true);
      expect(await card('First').getByLabel('Call them').inputValue()).to.equal('');
      await console.go(bea, 'requests');
      await bea.getByRole('tab', { name: 'Mine' }).click();
      // The page may show cached entries until it has refreshed them.
      await bea.getByRole('button', { name: 'Withdraw' }).first().waitFor();
      await bea.getByRole('button', { name: 'Withdraw' }).nth(1).waitFor({ state: 'detached' });
      await bea.getByRole('button', { name: 'Withdraw' }).click();
      await bea.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
      await bea.getByText('No pending requests').waitFor();
      expect(await focused(bea)).to.equal('Requests for access');
    });

    it('reports an invalid request and keeps the input', async () => {
      await console.go(bea, `requests?ask=${encodeURIComponent(`${console.server.root}data/`)}`);
      await bea.getByLabel('Read').uncheck();
      await bea.getByLabel('What for').fill('Nothing');
      const ask = bea.getByRole('button', { name: 'Request access', exact: true });
      await ask.click();
      await dismiss(bea, 'Select at least one action');
      await bea.getByLabel('Read').check();
      await bea.getByLabel('Ends').selectOption('At a date …');
      await bea.getByLabel('Until').fill('2001-01-01T12:00');
      await ask.click();
      await dismiss(bea, 'be in the future');
      await bea.getByLabel('Ends').selectOption('No end');
      await bea.getByLabel('Paste the link').fill('https://elsewhere.example/');
      await ask.click();
      await bea.locator('.notice.bad').waitFor();
      expect(await bea.getByLabel('What for').inputValue()).to.equal('Nothing');
    });

    it('reports an invalid grant', async () => {
      await console.go(owner, at('sharing', 'data/'));
      await owner.getByLabel('Person, by name or address').fill('Nemo');
      const give = owner.getByRole('button', { name: 'Give access' });
      await give.click();
      await notice(owner, 'Nemo is neither a known name nor an IRI').getByRole('button').press('Enter');
      await owner.locator('.notice').waitFor({ state: 'detached' });
      expect(await owner.evaluate('document.activeElement.id')).to.equal('main');
      for (const address of ['bea@example.org', 'mailto:bea@example.org']) {
        await owner.getByLabel('Person, by name or address').fill(address);
        await give.click();
        await dismiss(owner, 'An e-mail address cannot sign in.');
      }
      await owner
        .getByLabel('Person, by name or address')
        .fill('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK');
      if (!(await owner.getByLabel('Read', { exact: true }).isVisible())) await more();
      await owner.getByLabel('Read', { exact: true }).uncheck();
      await give.click();
      await dismiss(owner, 'Select at least one action');
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
