/** Console: a user with a link signs in, returns to the linked resource, requests access and sees only permitted actions. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { asTyped } from '../../lib/tools/threads/package-root.js';
import { axeFindings, axeFindingsInBothModes, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { pathsOf } from '../support/places.js';

for (const path of pathsOf('The console, users with a link'))
  describeInBrowser(`The console, users with a link, at ${path || '/'}`, () => {
    const console = new Console();
    let owner: Page;
    /** Page of a user without any grant at first. */
    let bea: Page;
    before(async () => {
      await console.start({ path });
      for (const name of ['data/', 'data/in/', 'other/']) await send('PUT', name, asContainer);
      await send('PUT', 'data/it.ttl', { 'Content-Type': 'text/turtle' }, '<#it> <#is> "there" .');
      owner = await console.owner({ permissions: ['clipboard-read', 'clipboard-write'] });
      bea = await console.person();
    });
    after(() => console.stop());

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });
    const at = (page: string, name: string): string => `${page}?at=${encodeURIComponent(console.server.root + name)}`;
    const titled = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    const offered = async (page: Page): Promise<string[]> =>
      (await page.locator('.top nav a, main .button:visible, main button:visible').allInnerTexts()).map((text) =>
        text.trim(),
      );

    it('arrives from the address of a container, and of a resource that it may not read (rule 7.3)', async () => {
      const page = await console.person();
      await page.goto(console.server.root);
      await page.waitForURL(`${console.server.root}app#/browse?*`);
      await page.locator('main .refused').waitFor();
      await page.goto(`${console.server.root}data/hidden.ttl`);
      await page.getByRole('heading', { name: 'Sign in to see this' }).waitFor();
      await page.getByRole('link', { name: 'Request access' }).click();
      await page.getByRole('button', { name: 'Continue with this browser' }).click();
      await page.getByRole('heading', { name: 'Request access to hidden.ttl' }).waitFor();
    });

    it('signs in from the page of a problem, which fits a phone, and returns to the resource (rule 7.3)', async () => {
      const page = await console.person({ viewport: { width: 360, height: 740 } });
      await page.goto(`${console.server.root}data/hidden.ttl`);
      await page.getByRole('link', { name: 'Request access' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Continue with this browser' }).click();
      await page.waitForURL(`${console.server.root}app#/resource?*`);
      await page.getByRole('heading', { name: 'You have no access to this' }).waitFor();
    });

    it('copies a link to send, explains it, and mentions no header fields to anonymous users', async () => {
      await console.go(owner, at('sharing', 'data/'));
      await owner.getByRole('button', { name: 'Copy invitation link' }).click();
      await owner.locator('.notice', { hasText: 'copied' }).waitFor();
      const link = String(await owner.evaluate('navigator.clipboard.readText()'));
      expect(link).to.equal(console.at(at('browse', 'data/')));
      await owner.getByText('sign in with their browser, and ask').waitFor();
      await bea.goto(link);
      await bea.locator('.refused').waitFor();
      const text = await bea.locator('body').innerText();
      expect(text)
        .to.contain('Sign in to see this')
        .and.not.to.match(/header|Authorization|credential/i);
      expect(await offered(bea)).to.deep.equal(['Browse', 'Search', 'Ask', 'Sign in', 'Request access']);
      for (const place of ['sharing', 'requests', 'owners', 'admin', 'search']) {
        await console.go(bea, place);
        expect(await bea.locator('body').innerText(), place).not.to.match(/header field|Authorization/i);
      }
    });

    it('returns to the linked resource after creating an identity, and requests access to it only', async () => {
      await console.go(bea, at('browse', 'data/'));
      await bea.locator('main').getByRole('link', { name: 'Sign in' }).click();
      await bea.getByRole('button', { name: 'Continue with this browser' }).click();
      await titled(bea, 'data');
      expect(bea.url()).to.equal(console.at(at('browse', 'data/')));
      await bea.getByRole('link', { name: 'Request access' }).waitFor();
      expect(await offered(bea)).to.deep.equal(['Browse', 'Search', 'Ask', 'Requests', 'Request access']);
      expect(await axeFindings(bea)).to.deep.equal([]);
      await bea.getByRole('link', { name: 'Request access' }).click();
      expect(await bea.getByLabel('Paste the link').inputValue()).to.equal(`${console.server.root}data/`);
      await console.go(bea, 'requests?');
      await bea.getByRole('tab', { name: 'Request access' }).click();
      expect(await bea.getByLabel('Paste the link').inputValue()).to.equal('');
    });

    it('returns after sign-in with a credential, but never to another site', async () => {
      const page = await console.person();
      const pasted = async (): Promise<void> => {
        await page.locator('summary', { hasText: 'sign-in link or credential' }).click();
        await page.locator('textarea').fill(console.server.ownerToken!);
        await page.locator('form button').click();
        await page.locator('.who [title^="did:key"]').waitFor();
      };
      await page.goto(console.at(at('resource', 'data/it.ttl')));
      await page.locator('.who').getByRole('link', { name: 'Sign in' }).click();
      await titled(page, 'Sign in');
      const command = `${asTyped()} owner --key owner.key`;
      expect(await page.locator('code').first().textContent()).to.equal(command);
      // The Sign in link of the sign-in page keeps the return address.
      await page.locator('.who').getByRole('link', { name: 'Sign in' }).click();
      await pasted();
      await titled(page, 'it.ttl');
      for (const to of ['https://elsewhere.example/', '//elsewhere.example/', '#token=a.b.c', 'javascript:alert(1)']) {
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.locator('.who >> text=Not signed in').waitFor();
        await page.goto(console.at(`signin?${new URLSearchParams({ to })}`));
        await titled(page, 'Sign in');
        await pasted();
        await titled(page, 'All files');
        expect(page.url(), to).to.equal(`${console.server.root}app#/browse`);
      }
      await page.goto(console.at('browse?at=https%3A%2F%2Felsewhere.example%2F'));
      await page.getByText('This URL is not in this storage.').waitFor();
    });

    it('warns of a request for the whole storage, and limits it before accepting', async () => {
      await console.go(bea, 'requests?tab=ask');
      expect(await bea.getByLabel('Paste the link').inputValue()).to.equal('');
      await bea.getByLabel('Add', { exact: true }).check();
      await bea.getByLabel('What for').fill('Curiosity');
      await bea.getByRole('button', { name: 'Request access', exact: true }).click();
      await bea.getByRole('cell', { name: 'Waiting' }).waitFor();
      const badge = owner.locator('.top nav a .badge');
      expect(await badge.count()).to.equal(0);
      await owner.reload();
      await badge.waitFor();
      await owner
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: /^Requests 1 to answer$/ })
        .waitFor();
      expect(await axeFindings(owner)).to.deep.equal([]);
      await console.go(owner, 'admin?tab=activity');
      const happened = owner.getByRole('region', { name: 'What happened' });
      await happened.getByRole('row', { name: /New access request/ }).waitFor();
      expect(await happened.innerText()).not.to.contain('/.lws/');
      await console.go(owner, 'requests');
      await owner.locator('request-card .problem', { hasText: 'covers the whole storage' }).waitFor();
      const card = owner.locator('request-card');
      expect(await card.innerText())
        .to.match(/^Someone new asks to read[\s\S]*What for: Curiosity/)
        .and.not.to.contain('did:key');
      await card.locator('summary', { hasText: 'Details' }).click();
      await card.getByText(/^Asked on .* by did:key:/).waitFor();
      expect(await axeFindings(owner)).to.deep.equal([]);
      await owner.locator('request-card summary', { hasText: 'Change' }).click();
      const only = owner.getByLabel('Limit to');
      await only.fill('https://elsewhere.example/');
      await owner.getByRole('button', { name: 'Accept' }).click();
      await owner.locator('.notice.bad', { hasText: 'is not part of the request' }).waitFor();
      await only.fill(`${console.server.root}data/`);
      await owner.getByRole('button', { name: 'Accept' }).click();
      await owner.getByText('All are answered.').waitFor();
      await badge.waitFor({ state: 'detached' });
      await console.go(bea, at('browse', 'data/'));
      await bea.getByRole('cell', { name: 'it.ttl', exact: true }).waitFor();
      await console.go(bea, at('browse', 'other/'));
      await bea.locator('.refused').waitFor();
    });

    it('lists shared resources on the start page of a guest, but not on that of an owner', async () => {
      await console.go(bea, 'browse');
      await bea.getByRole('heading', { name: 'Shared with you' }).waitFor();
      const row = bea.getByRole('region', { name: 'Shared with you' }).getByRole('row').nth(1);
      expect(await row.innerText()).to.contain('Read, Add');
      expect(await axeFindings(bea)).to.deep.equal([]);
      await row.getByRole('link').click();
      await bea.getByRole('cell', { name: 'it.ttl', exact: true }).waitFor();
      expect(await bea.getByRole('heading', { name: 'Shared with you' }).count()).to.equal(0);
      await console.go(owner, 'browse');
      await owner.getByRole('button', { name: 'New …' }).waitFor();
      expect(await owner.getByRole('heading', { name: 'Shared with you' }).count()).to.equal(0);
    });

    it('offers New to callers with append access, and no changes to callers with read access', async () => {
      await console.go(bea, at('browse', 'data/'));
      await bea.getByRole('button', { name: 'New …' }).waitFor();
      expect(await bea.locator('main').getByRole('link', { name: 'Share' }).count()).to.equal(0);
      await bea.getByRole('button', { name: 'New …' }).click();
      await bea.locator('dialog [name=name]').fill('mine');
      await bea.getByRole('button', { name: 'Create' }).click();
      await titled(bea, 'mine');
      await bea.getByRole('button', { name: 'New …' }).waitFor();
      await console.go(bea, at('resource', 'data/it.ttl'));
      await bea.locator('.triples').waitFor();
      expect(await offered(bea))
        .not.to.include.members(['Share'])
        .and.not.to.include.members(['Delete …']);
      await bea.getByRole('tab', { name: 'Metadata' }).click();
      await bea.locator('resource-metadata fieldset').first().waitFor();
      expect(await bea.getByRole('button', { name: 'Save' }).count()).to.equal(0);
      expect(await bea.getByLabel('New type').count()).to.equal(0);
      expect(await axeFindings(bea)).to.deep.equal([]);
    });

    it('copies the link of an item and of a folder without control', async () => {
      await bea.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const copied = (): Promise<unknown> => bea.evaluate('navigator.clipboard.readText()');
      await console.go(bea, at('resource', 'data/it.ttl'));
      await bea.getByRole('button', { name: 'Copy link' }).click();
      await bea.locator('.notice', { hasText: 'The link is copied.' }).waitFor();
      expect(await copied()).to.equal(console.at(at('resource', 'data/it.ttl')));
      await console.go(bea, at('browse', 'data/'));
      await bea.getByRole('button', { name: 'Actions for mine' }).click();
      await bea.locator('.row-menu').getByRole('button', { name: 'Copy link' }).click();
      expect(await copied()).to.equal(console.at(at('browse', 'data/mine/')));
    });

    it('breaks no words and keeps the header in three rows on a screen of 360 pixels', async () => {
      const size = { width: 360, height: 740 };
      const anonymous = await console.person({ viewport: size });
      await anonymous.goto(console.at('signin'));
      await titled(anonymous, 'Sign in');
      const small = await console.owner({ viewport: size });
      await small.getByRole('button', { name: 'More pages' }).waitFor();
      for (const page of [anonymous, small]) {
        const heights = (await page.evaluate(
          "[...document.querySelectorAll('.top a, .who span')].map((each) => each.getBoundingClientRect().height)",
        )) as number[];
        expect(Math.max(...heights), 'one line each').to.be.below(40);
        expect((await page.locator('.top').boundingBox())!.height).to.be.below(125);
      }
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
