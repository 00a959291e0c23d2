/** Console: earlier versions of a resource, and queries as of a date (rules 27.2 to 27.8). */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { ConsoleResources } from '../support/console-resources.js';
import { until } from '../support/until.js';

const turtle = (...values: readonly number[]): string =>
  values.map((value) => `<#a> <http://p.example/p> ${value} .`).join('\n');

describeInBrowser('The console, versions', () => {
  const console = new Console();
  const resources = new ConsoleResources(console);
  let page: Page;
  before(async () => {
    await console.start({ settings: { 'versions.all': 'true', 'public-read': 'true' } });
    page = await console.owner();
  });
  after(() => console.stop());

  const history = async (name: string, of = page): Promise<void> => {
    await resources.open(of, name);
    await of.getByRole('tab', { name: 'History' }).click();
    await of.getByRole('region', { name: 'Versions' }).waitFor();
  };
  const rows = (of = page) => of.getByRole('region', { name: 'Versions' }).locator('tbody tr');
  const shown = () => page.locator('resource-history section.card');
  const press = (at: number, name: string) => rows().nth(at).getByRole('button', { name }).click();

  it('lists, shows and compares the versions of a graph by triples (rules 27.2, 27.4)', async () => {
    await resources.put('g', 'text/turtle', turtle(1, 2));
    await resources.put('g', 'text/turtle', turtle(2, 3));
    await history('g');
    expect(await rows().count()).to.equal(2);
    await rows().nth(0).getByText('Current').waitFor();
    expect(await rows().nth(0).getByRole('button').count()).to.equal(0);
    await rows().nth(1).getByRole('link').click();
    await shown().getByText('<http://p.example/p> 1').waitFor();
    await press(1, 'Compare');
    await shown().getByText('2 triples: − only then, + only now.').waitFor();
    const text = await shown().locator('pre').innerText();
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => `${line[0]} ${/"(\d)"/.exec(line)?.[1]}`),
    ).to.deep.equal(['− 1', '+ 3']);
    expect(await axeFindings(page)).to.deep.equal([]);
    await shown().getByRole('button', { name: 'Close' }).click();
    await shown().waitFor({ state: 'detached' });
  });

  it('compares texts by lines, restores a version, and does not overwrite a newer state', async () => {
    await resources.put('t.txt', 'text/plain', 'one\ntwo\nthree\nfour');
    await resources.put('t.txt', 'text/plain', 'one\n2\nthree\nfour\nfive');
    await history('t.txt');
    await press(1, 'Compare');
    await shown().getByText('3 lines').waitFor();
    const lines = (await shown().locator('pre').innerText()).trim().split('\n');
    expect(lines).to.deep.equal(['− two', '+ 2', '  three', '  four', '+ five']);
    const restore = async (): Promise<void> => {
      await press(1, 'Restore');
      await page.locator('dialog[open]').getByRole('button', { name: 'Restore' }).click();
    };
    await restore();
    await page.locator('.notice', { hasText: 'is restored.' }).waitFor();
    await until(async () => (await rows().count()) === 3);
    expect(await resources.text('t.txt')).to.equal('one\ntwo\nthree\nfour');
    const sizes = (await rows().locator('td:nth-child(3)').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    expect(sizes).to.deep.equal(['18 B −3 B', '21 B +3 B', '18 B']);
    await resources.put('t.txt', 'text/plain', 'of another user');
    await restore();
    await page.locator('.notice.bad', { hasText: 'Another user changed this item' }).waitFor();
    expect(await resources.text('t.txt')).to.equal('of another user');
  });

  it('compares the links of states with the same content (rule 27.2)', async () => {
    await resources.put('linked', 'text/turtle', turtle(1));
    const fields = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
    const links = {
      linkset: [{ type: [{ href: 'http://schema.org/Dataset' }], license: [{ href: 'http://example.org/free' }] }],
    };
    const { status } = await resources.send('PUT', 'linked.meta', fields, JSON.stringify(links));
    expect(status).to.equal(204);
    await history('linked');
    await press(1, 'Compare');
    await shown().getByText('The content is the same.').waitFor();
    await shown().getByText('2 links: − only then, + only now.').waitFor();
    expect((await shown().locator('pre').innerText()).trim().split('\n')).to.deep.equal([
      '+ license http://example.org/free',
      '+ type http://schema.org/Dataset',
    ]);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('erases a version, and says what ends', async () => {
    await resources.put('e.txt', 'text/plain', 'secret');
    await resources.put('e.txt', 'text/plain', 'open');
    await history('e.txt');
    const url = (await rows().nth(1).locator('a').getAttribute('href'))!;
    expect(await rows().nth(1).getByRole('button', { name: 'Erase' }).count(), 'in the menu').to.equal(0);
    await press(1, 'More for');
    expect(await axeFindings(page)).to.deep.equal([]);
    await press(1, 'Erase');
    await page.locator('dialog[open]').getByText('A citation of the version').waitFor();
    await page.locator('dialog[open]').getByRole('button', { name: 'Erase' }).click();
    await page.locator('.notice', { hasText: 'The version is erased.' }).waitFor();
    await until(async () => (await rows().count()) === 1);
    expect((await resources.send('GET', url.slice(console.server.root.length))).status).to.equal(404);
  });

  it('shows visitors the versions without writers, and no buttons to change them', async () => {
    const visitor = await console.person();
    await visitor.goto(console.at('browse'));
    await history('g', visitor);
    expect(await rows(visitor).count()).to.equal(2);
    expect(await visitor.getByText('Written by').count()).to.equal(0);
    expect(await visitor.getByRole('button', { name: /^(?:Erase|Restore) / }).count()).to.equal(0);
    await page.getByText('Written by').waitFor();
  });

  it('fits a query as of a date on a screen of 360 pixels', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await console.go(page, 'ask');
    await page.getByRole('button', { name: 'As of now' }).click();
    await page.getByLabel('As of').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('asks as of a date (rule 27.8)', async () => {
    const second = Math.floor(Date.now() / 1000);
    await until(() => Date.now() >= (second + 1) * 1000);
    await resources.put('g', 'text/turtle', turtle(9));
    const query = `SELECT ?o FROM <${console.server.root}g> { ?s ?p ?o } ORDER BY ?o`;
    await console.go(page, `ask?${new URLSearchParams({ query })}`);
    const run = async (): Promise<string> => {
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText(/rows? in/).waitFor();
      return page.locator('ask-results table').innerText();
    };
    expect(await run()).to.include('9');
    // The field is in local time.
    const local = await page.evaluate((ms) => {
      const date = new Date(ms);
      return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    }, second * 1000);
    await page.getByLabel('As of').fill(local);
    await page.getByLabel('As of').blur();
    const then = await run();
    expect(then).to.include('3');
    expect(then).to.not.include('9');
    await page.getByLabel('As of').fill('');
    await page.getByLabel('As of').blur();
    expect(await run()).to.include('9');
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(console.complaints).to.deep.equal([]);
  });
});
