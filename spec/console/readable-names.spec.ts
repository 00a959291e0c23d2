/** Console: readable names of IRIs, with labels of the text search in the reader's language, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { ConsoleResources } from '../support/console-resources.js';

const vocabulary = `@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <http://e.example/> .
ex:Q1 rdfs:label "river"@en, "Fluss"@de . ex:flows rdfs:label "flows into"@en, "mündet in"@de . `;
const data = `@prefix e: <http://e.example/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
<#aare> a e:Q1 ; e:flows e:Q2 ; foaf:name "Aare" ; foaf:page <notes/a> .`;
const query = 'PREFIX my: <http://e.example/> SELECT ?s ?p ?o { ?s ?p ?o FILTER(STRENDS(STR(?s), "#aare")) }';

/** Copies the selection of a page, or the content of an element, and returns the text on the clipboard. */
async function copied(page: Page, selector: string): Promise<string> {
  await page.evaluate(`getSelection().selectAllChildren(document.querySelector(${JSON.stringify(selector)}));
    addEventListener('copy', ({ clipboardData }) => { window.copiedText = clipboardData.getData('text/plain'); }, { once: true });`);
  await page.keyboard.press('Control+c');
  return (await page.evaluate('window.copiedText')) as string;
}

async function run(page: Page, console: Console): Promise<void> {
  await console.go(page, `ask?${new URLSearchParams({ query })}`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('ask-table tbody tr').first().waitFor();
}

describeInBrowser('The console, readable names', () => {
  const console = new Console();
  const resources = new ConsoleResources(console);
  before(async () => {
    await console.start({ path: '', settings: { 'text-search.enabled': 'true' } });
    await resources.put('vocabulary', 'text/turtle', vocabulary);
    await resources.put('rivers', 'text/turtle', data);
  });
  after(() => console.stop());

  it('shows labels in the language of the browser, and prefixes of the query, in results', async () => {
    for (const [locale, type, property] of [
      ['de', 'Fluss', 'mündet in'],
      ['en', 'river', 'flows into'],
    ] as const) {
      const page = await console.owner({ locale });
      await run(page, console);
      const cell = (text: string) => page.locator('ask-table td').getByText(text, { exact: true });
      for (const text of [type, property, 'my:Q2', 'foaf:name', 'Aare', '/notes/a']) await cell(text).first().waitFor();
      expect(await cell(type).getAttribute('title')).to.equal('http://e.example/Q1');
      await page.getByLabel('Filter').fill(property);
      await page.locator('ask-table [role=status]', { hasText: '1 of 4 rows' }).waitFor();
      await page.getByLabel('Filter').fill('my:Q2');
      await page.locator('ask-table [role=status]', { hasText: '1 of 4 rows' }).waitFor();
      expect(await copied(page, 'ask-table tbody')).to.equal(
        `${console.server.root}rivers#aare\thttp://e.example/flows\thttp://e.example/Q2`,
      );
      expect(await copied(page, 'ask-table td + td bdi')).to.equal('http://e.example/flows');
      expect(await axeFindings(page)).to.deep.equal([]);
    }
  });

  it('shows labels in the metadata, and paths without labels where access is explained', async () => {
    const link = {
      linkset: [
        { type: [{ href: 'http://e.example/Q1' }], 'http://e.example/flows': [{ href: 'http://e.example/Q2' }] },
      ],
    };
    const fields = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
    expect((await resources.send('PUT', 'rivers.meta', fields, JSON.stringify(link))).status).to.equal(204);
    await resources.put(
      'titled',
      'text/turtle',
      `<${resources.iri('rivers')}> <http://purl.org/dc/terms/title> "Not a path" .`,
    );
    const page = await console.owner();
    await resources.open(page, 'rivers');
    await page.getByRole('tab', { name: 'Metadata' }).click();
    await page.getByText('Advanced').click();
    for (const text of ['river', 'flows into'])
      await page.locator('resource-metadata bdi').getByText(text, { exact: true }).waitFor();
    await page.goto(console.at(`admin?${new URLSearchParams({ tab: 'explain', iri: resources.iri('rivers') })}`));
    await page.getByRole('button', { name: 'Check access' }).click();
    const named = page.locator('admin-explain [role=status] bdi').first();
    await named.waitFor();
    expect(await named.textContent()).to.equal('/rivers');
    expect(await named.getAttribute('title')).to.equal(resources.iri('rivers'));
  });

  it('causes no script error or CSP violation and contacts no other origin', () => {
    expect(console.complaints).to.deep.equal([]);
    expect([...console.elsewhere]).to.deep.equal([]);
  });
});

describeInBrowser('The console of a storage without text search', () => {
  const console = new Console();
  before(() => console.start({ path: '' }));
  after(() => console.stop());

  it('shows names with prefixes, and requests no labels', async () => {
    const resources = new ConsoleResources(console);
    await resources.put('rivers', 'text/turtle', data);
    const page = await console.owner({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await run(page, console);
    await page.locator('ask-table td').getByText('my:Q1', { exact: true }).waitFor();
    expect(requests.filter((url) => url.includes('labels'))).to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
    expect(await axeFindings(page)).to.deep.equal([]);
  });
});
