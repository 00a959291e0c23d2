/** Console: what all pages share: heading of the root, notices, cards, and the menu of phones. */
import { expect } from 'chai';
import { Console, describeInBrowser } from '../support/browser.js';

describeInBrowser('The console, the look of all pages', () => {
  const console = new Console();
  before(() => console.start({ settings: { 'catalog.title': 'Rivers & "Lakes" <b>{HOME}</b>' } }));
  after(() => console.stop());

  it('names the root by the title of the storage (lws.catalog.title)', async () => {
    const page = await console.owner();
    expect(await page.locator('main h1').innerText()).to.equal('Rivers & "Lakes" <b>{HOME}</b>');
    await console.go(page, `browse?${new URLSearchParams({ at: `${console.server.root}none/` })}`);
    await page.locator('.crumbs a', { hasText: 'Rivers &' }).waitFor();
    expect(console.complaints).to.deep.equal([]);
  });
});
