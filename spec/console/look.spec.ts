/** Console: what all pages share: heading of the root, notices, cards, and the menu of phones. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Console, describeInBrowser } from '../support/browser.js';
import { ConsoleResources } from '../support/console-resources.js';

/** Distances of the content of a box from its upper and lower edge, in pixels. */
const paddings = async (page: Page, box: string): Promise<readonly [top: number, bottom: number]> =>
  (await page.evaluate(`{
    const box = document.querySelector(${JSON.stringify(box)});
    const [own, first, last] = [box, box.firstElementChild, box.lastElementChild].map((each) => each.getBoundingClientRect());
    [first.top - own.top, own.bottom - last.bottom];
  }`)) as [number, number];

/** Value of a computed style. */
const styleOf = (page: Page, selector: string, property: string): Promise<unknown> =>
  page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);

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

  it('shows notices that the content can be scrolled away from', async () => {
    const page = await console.owner();
    const space = (): Promise<string> =>
      page.evaluate("getComputedStyle(document.querySelector('main')).paddingBottom");
    await page.locator('.notice').waitFor();
    expect(await space()).to.equal('144px');
    await page.locator('.notice').getByRole('button', { name: 'Close' }).click();
    expect(await space()).to.equal('80px');
  });

  it('has cards with equal padding', async () => {
    const page = await console.person();
    await page.goto(console.at('signin'));
    await page.locator('.card').first().waitFor();
    const [top, bottom] = await paddings(page, '.card');
    expect(bottom).to.be.closeTo(top, 1);
  });

  it('signs in with a card in the middle of the page, which folds what few need', async () => {
    const page = await console.person();
    await page.goto(console.at('signin'));
    const { x, width } = (await page.locator('.card').first().boundingBox())!;
    expect(x + width / 2).to.be.closeTo(640, 10);
    await page.getByText('No account or password needed.').waitFor();
    const how = page.getByText('The browser keeps a secret key');
    expect(await how.isVisible()).to.equal(false);
    await page.getByText('How does this work?').click();
    await how.waitFor();
  });

  it('draws boxes with a border in dark mode, in rows of the height of the listing', async () => {
    await new ConsoleResources(console).put('a.txt', 'text/plain', 'a');
    const page = await console.owner({ colorScheme: 'dark' });
    const box = page.getByRole('checkbox', { name: 'Select a.txt', exact: true });
    expect(await styleOf(page, '.listing td input', 'appearance')).to.equal('none');
    expect((await page.locator('.listing tbody tr:not(.spacer)').first().boundingBox())!.height).to.equal(40);
    await box.check();
    expect(await styleOf(page, '.listing td input', 'appearance')).to.equal('auto');
  });

  it('shows four entries of the menu in one row on a phone, and the others under More', async () => {
    const page = await console.owner({ viewport: { width: 360, height: 740 } });
    const nav = page.locator('.top nav');
    const shown = (): Promise<string[]> => nav.locator('a:visible').allInnerTexts();
    const height = async (): Promise<number> => (await nav.boundingBox())!.height;
    await nav.getByRole('link', { name: 'Share' }).waitFor();
    expect(await shown()).to.deep.equal(['Browse', 'Search', 'Ask', 'Share']);
    const row = await height();
    expect(row).to.be.below(45);
    await nav.getByRole('button', { name: 'More pages' }).click();
    await nav.getByRole('link', { name: 'Storage', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Storage' }).waitFor();
    expect(await shown()).to.deep.equal(['Browse', 'Search', 'Ask', 'Storage']);
    expect(await height()).to.equal(row);
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
    await page.setViewportSize({ width: 1280, height: 740 });
    expect((await shown()).length).to.be.above(4);
    expect(await nav.getByRole('button').count()).to.equal(0);
  });

  it('fades the ends of tabs that have more on a phone, and no other', async () => {
    const page = await console.owner({ viewport: { width: 360, height: 740 } });
    await console.go(page, 'admin');
    const tabs = page.locator('.tabs').first();
    await page.locator('.tabs[data-more=end]').waitFor();
    expect(await styleOf(page, '.tabs', 'maskImage')).to.contain('32px');
    await tabs.evaluate((row) => row.scrollTo(row.scrollWidth, 0));
    await page.locator('.tabs[data-more=start]').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
  });
});
