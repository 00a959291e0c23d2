/** Console: search by type in a browser, and the messages of storages without search or queries. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, queryText, run } from '../support/asking.js';
import { Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { pathsOf } from '../support/places.js';

const ex = 'http://example.org/vocab/';
const found = 'page-search section [role=status]';

/** Types of a resource by its number: three overlapping ones, and one with a comma and markup in its IRI. */
const typesOf = (number: number): string[] => [
  number % 2 ? 'Dataset' : 'Paper',
  ...(number % 3 === 0 ? ['Reviewed'] : []),
  ...(number === 5 ? ['Odd,%3Cimg%20src=x%3E'] : []),
];

async function seed({ server }: Console, count: number, textOf?: (number: number) => string): Promise<void> {
  const put = (name: string, fields: Record<string, string>, body?: string) =>
    request(server.root + name, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${server.ownerToken}`, ...fields },
      ...(body === undefined ? {} : { body }),
    });
  await put('data/', asContainer);
  await Promise.all(
    Array.from({ length: count }, (_, number) =>
      put(
        `data/item-${number}`,
        { 'Content-Type': 'text/turtle' },
        `<#it> a ${typesOf(number).map((name) => `<${ex}${name}>`)} . ${textOf ? `<#it> <urn:p> "${textOf(number)}" .` : ''}`,
      ),
    ),
  );
}

const expectStatus = (page: Page, words: string | RegExp): Promise<void> =>
  page.locator(found, { hasText: words }).waitFor();
const complaintsOf = ({ complaints, elsewhere }: Console): string[] => [...complaints, ...elsewhere];

for (const path of pathsOf('The console, search by type')) {
  describeInBrowser(`The console, search by type, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    before(async () => {
      await console.start({ path, settings: { 'search-index.page-size': '10' } });
      page = await console.owner();
    });
    after(() => console.stop());

    it('explains types while no resource has one', async () => {
      await console.go(page, 'search');
      await page.locator('.facets >> text=No types yet').waitFor();
      await expectAccessible(page);
    });

    it('lists the types in use, and finds resources with all or any of the selected types', async () => {
      await seed(console, 30);
      await console.go(page, 'browse');
      await console.go(page, 'search');
      expect(await page.getByRole('radio').count(), 'one type needs no choice').to.equal(0);
      await page.getByLabel('Paper').check();
      await expectStatus(page, '15 items found, page 1 of 2');
      await page.getByLabel('Reviewed').check();
      await expectStatus(page, '5 items found.');
      expect((await page.locator('.hit > a').allInnerTexts()).sort()).to.deep.equal(
        [0, 12, 18, 24, 6].map((number) => `item-${number}`),
      );
      expect(await page.locator('.hit').first().locator('.chips li').allInnerTexts()).to.have.members([
        'Paper',
        'Reviewed',
      ]);
      await expectAccessible(page);
      await page.getByLabel('Any selected type').check();
      await expectStatus(page, '20 items found, page 1 of 2');
      await page.getByLabel('Paper').uncheck();
      await expectStatus(page, '10 items found.');
    });

    it('pages through results and keeps the search in its URL', async () => {
      await page.getByLabel('Dataset').check();
      await expectStatus(page, '20 items found, page 1 of 2');
      const first = await page.locator('.hit > a').allInnerTexts();
      await page.click('a:text-is("Next")');
      await expectStatus(page, '20 items found, page 2 of 2');
      const second = await page.locator('.hit > a').allInnerTexts();
      expect(new Set([...first, ...second]).size).to.equal(20);
      const address = page.url();
      await page.reload();
      await expectStatus(page, '20 items found, page 2 of 2');
      expect(await page.locator('.hit > a').allInnerTexts()).to.deep.equal(second);
      expect(await page.getByLabel('Any selected type').isChecked()).to.equal(true);
      expect(await page.getByLabel('Reviewed').isChecked()).to.equal(true);
      await page.goBack();
      await expectStatus(page, 'page 1 of 2');
      await page.goForward();
      await expectStatus(page, 'page 2 of 2');
      const other = await console.owner();
      await other.goto(address);
      await expectStatus(other, '20 items found, page 2 of 2');
      await other.click('.hit > a >> nth=0');
      await other.waitForURL(/#\/resource\?at=.*item-/);
    });

    it('names the types that the server sets in words', async () => {
      await page.click('text=Clear selection');
      await page.getByLabel('Folders').check();
      await expectStatus(page, '1 item found');
      await page.locator('.hit', { hasText: /data\s+All files · Folder/ }).waitFor();
      await page.click('text=Clear selection');
      await page.getByLabel('Files').check();
      await expectStatus(page, '30 items found');
      await page.locator('.hit', { hasText: 'Turtle' }).first().waitFor();
    });

    it('finds a type with a comma in its IRI, and shows it as text', async () => {
      await page.click('text=Clear selection');
      await page.getByLabel('Odd,<img src=x>').check();
      await expectStatus(page, '1 item found.');
      await page.locator('.hit', { hasText: /item-5\s+data · Turtle · / }).waitFor();
      expect(await page.locator('main img').count()).to.equal(0);
    });

    it('reports an empty result for an unknown type, a nonexistent page and an anonymous caller', async () => {
      await console.go(page, 'search?type=javascript%3Anone');
      await page.locator('section .empty', { hasText: 'such a type' }).waitFor();
      expect(await page.getByLabel('none javascript:none').isChecked()).to.equal(true);
      await expectAccessible(page);
      await console.go(page, 'search?type=javascript%3Anone&type=javascript%3Aother');
      await page.locator('section .empty', { hasText: 'choose “Any selected type”' }).waitFor();
      await console.go(page, 'search?page=99');
      await page.locator('section [role=alert]', { hasText: 'This page does not exist.' }).waitFor();
      await page.click('text=Go to the first page');
      await expectStatus(page, /items that you may read, page 1 of/);
      await page.locator('.hit').first().waitFor();
      const anonymous = await console.person();
      await anonymous.goto(console.at('search'));
      await anonymous.locator('section .empty >> text=Sign in').waitFor();
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(complaintsOf(console)).to.deep.equal([]);
    });
  });

  describeInBrowser(`The console, search by words, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    before(async () => {
      await console.start({ path, settings: { 'text-search.enabled': 'true', 'text-search.page-size': '10' } });
      await seed(console, 30, (number) => `a <img src=x> level of river ${number % 3 ? 'Aare' : 'Emme'}`);
      page = await console.owner();
    });
    after(() => console.stop());

    it('finds words, phrases and names with excerpts, and counts the types', async () => {
      await console.go(page, 'search');
      await page.locator('.facets li', { hasText: /Paper\s[\s\S]*15/ }).waitFor();
      await page.getByRole('searchbox').first().fill('"level of" aar*');
      // Labels and counts that arrive while the user types update the page, but not the box.
      await page.locator('page-search').evaluate(async (element) => {
        const search = element as unknown as { requestUpdate(): void; readonly updateComplete: Promise<unknown> };
        search.requestUpdate();
        await search.updateComplete;
      });
      await page.keyboard.press('Enter');
      await expectStatus(page, '20 items found, page 1 of 2');
      expect(await page.locator('.hit').first().locator('mark').allInnerTexts()).to.deep.equal(['level', 'of', 'Aare']);
      const first = page.locator('.hit').first();
      const name = await first.locator('> a').innerText();
      const thing = new RegExp(`#/resource\\?at=.*${encodeURIComponent(`${name}#it`)}$`);
      expect(await first.locator('p a').getAttribute('href')).to.match(thing);
      expect(await first.locator('.chips a').first().getAttribute('href')).to.match(thing);
      await page.locator('.facets li', { hasText: /Paper\s[\s\S]*10/ }).waitFor();
      await page.getByLabel('Paper').check();
      await expectStatus(page, '10 items found.');
      await expectAccessible(page);
      await page.reload();
      await expectStatus(page, '10 items found.');
      await console.go(page, 'search?q=reviewed');
      await page.locator('section .empty', { hasText: 'these words' }).waitFor();
      await page.click('page-search a:text-is("Reviewed")');
      await expectStatus(page, '10 items found');
      await console.go(page, 'search?q=item-7');
      await expectStatus(page, '1 item found.');
      expect(await page.locator('main img').count()).to.equal(0);
      const put = await request(`${console.server.root}data/notes.md`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, 'Content-Type': 'text/markdown' },
        body: '# Notes\n\n> The **zebra** of `this` *river*, in C#\n',
      });
      expect(put.status).to.equal(201);
      await console.go(page, 'search?q=note');
      await page.locator('.hit', { hasText: 'notes.md' }).locator('mark', { hasText: 'Notes' }).waitFor();
      await console.go(page, 'search?q=zeb');
      await page.locator('.hit mark', { hasText: 'zebra' }).waitFor();
      const excerpt = (await page.locator('.hit p:not(.soft)').first().innerText()).replace(/\s+/g, ' ').trim();
      expect(excerpt)
        .to.match(/The zebra of this river, in C#$/)
        .and.not.to.match(/[*`>]|# /);
      // A phone shows what was found before the types.
      await page.setViewportSize({ width: 360, height: 740 });
      await console.go(page, 'search');
      await page.locator('.facets details:not([open])').waitFor();
      await page.locator('.facets summary').click();
      await page.getByLabel('Paper').waitFor();
      await expectAccessible(page);
      expect(complaintsOf(console)).to.deep.equal([]);
    });
  });

  describeInBrowser(`The console, search without queries, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    before(async () => {
      await console.start({ path, settings: { 'sparql.endpoint.enabled': 'false' } });
      page = await console.owner();
    });
    after(() => console.stop());

    it('reports that queries are off, and searches', async () => {
      await console.go(page, 'ask');
      await page.locator('main .empty >> text=does not offer queries (lws.sparql.endpoint.enabled is off)').waitFor();
      expect(await page.locator('main button').count()).to.equal(0);
      await expectAccessible(page);
      await seed(console, 2);
      await console.go(page, 'search');
      await page.getByLabel('Dataset').check();
      await expectStatus(page, '1 item found.');
      expect(await page.locator('.hit .chips').innerText()).to.equal('Dataset');
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(complaintsOf(console)).to.deep.equal([]);
    });
  });

  describeInBrowser(`The console, queries without search, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    before(async () => {
      await console.start({ path, settings: { 'search-index.enabled': 'false' } });
      page = await console.owner();
    });
    after(() => console.stop());

    it('reports that search is off, and runs queries', async () => {
      await console.go(page, 'search');
      await page
        .locator('main .empty >> text=does not offer search by type (lws.search-index.enabled is off)')
        .waitFor();
      expect(await page.locator('main input').count()).to.equal(0);
      await expectAccessible(page);
      await console.go(page, 'ask');
      await page.locator(queryText).waitFor();
      expect(await run(page)).to.match(/ in /);
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(complaintsOf(console)).to.deep.equal([]);
    });
  });
}
