/** Console: the first page of an empty storage, and its example data. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindingsInBothModes, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';

for (const path of pathsOf('The console, first page'))
  describeInBrowser(`The console, first page, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path, settings: {} });
      page = await console.owner();
    });
    after(() => console.stop());

    it('offers three things to do, and names the settings of features that are off', async () => {
      await page.getByRole('heading', { name: 'This storage is empty.' }).waitFor();
      expect(await page.locator('.steps h3').allInnerTexts()).to.deep.equal([
        'Add your files',
        'Look around with an example',
        'Work with others',
      ]);
      const feature = (title: string) =>
        page.getByRole('list', { name: 'Features' }).getByRole('listitem').filter({ hasText: title });
      expect(await feature('Shapes and forms').innerText())
        .to.match(/^On/)
        .and.not.to.contain('--');
      expect(await feature('Agents').innerText()).to.match(/^On/);
      expect(await feature('Search by words').innerText()).to.match(/^Off[\s\S]*--text-search\.enabled=true$/);
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    it('adds example data that a query, a map and a preview show', async () => {
      await page.getByRole('button', { name: 'Add the example' }).click();
      await page.getByRole('heading', { level: 1, name: 'example' }).waitFor();
      await page.getByRole('link', { name: 'stations.ttl' }).waitFor();
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      expect(await resources.text('example/temperatures.ttl')).to.match(/sosa:hasSimpleResult|hasSimpleResult/);
      await page.getByRole('link', { name: 'Open the query' }).click();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText(/^6 rows/).waitFor();
      await page.getByRole('tab', { name: 'Map', exact: true }).click();
      await page.getByText('6 places.').waitFor();
    });

    it('removes the example in one click, and restores it', async () => {
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('example/') })}`);
      await page.getByRole('button', { name: 'Remove the example' }).click();
      await page.getByRole('heading', { name: 'This storage is empty.' }).waitFor();
      expect((await resources.send('GET', 'example/')).status).to.equal(404);
      await page.locator('.notice').getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('link', { name: 'example', exact: true }).waitFor();
      expect((await resources.send('GET', 'example/stations.ttl')).status).to.equal(200);
    });

    it('does not replace a folder with the name of the example', async () => {
      const etag = (await resources.send('HEAD', 'example/')).headers['etag'] ?? '';
      await resources.send('DELETE', 'example/', { 'If-Match': etag, Depth: 'infinity' });
      await console.go(page, 'search');
      await console.go(page, 'browse');
      await page.reload();
      await page.getByRole('button', { name: 'Add the example' }).waitFor();
      expect((await resources.send('PUT', 'example/', asContainer)).status).to.equal(201);
      await page.getByRole('button', { name: 'Add the example' }).click();
      await page.locator('.notice.bad', { hasText: 'A folder “example” exists already.' }).waitFor();
    });

    it('is not shown to callers without control', async () => {
      const nobody = await console.person();
      await nobody.goto(console.at('browse'));
      await nobody.locator('.refused').waitFor();
      expect(await nobody.locator('first-page').count()).to.equal(0);
    });

    it('causes no script error or CSP violation', () => {
      expect(console.complaints).to.deep.equal([]);
    });
  });
