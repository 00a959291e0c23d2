/** Console: tabs in addresses, owners, agents with an identity, and deletions in the activity. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { pathsOf } from '../support/places.js';
import { until } from '../support/until.js';

const other = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';

for (const path of pathsOf('The console, places'))
  describeInBrowser(`The console, places, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path, settings: {} });
      page = await console.owner();
      await resources.put('it.ttl', 'text/turtle', '<#a> <http://example.org/a-property-with-words> "b" .');
    });
    after(() => console.stop());

    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    const isOpen = async (name: string): Promise<void> =>
      void (await page.locator('[role=tab][aria-selected=true]', { hasText: name }).first().waitFor());

    it('keeps the open tab in the address of a page', async () => {
      for (const [place, name, parameter] of [
        [resources.place('it.ttl'), 'Data', 'table'],
        [resources.place('it.ttl'), 'Metadata', 'metadata'],
        ['admin', 'Check access', 'explain'],
        ['requests', 'Mine', 'mine'],
      ] as const) {
        await console.go(page, place);
        await tab(name).click();
        await isOpen(name);
        expect(new URLSearchParams(page.url().split('?')[1]).get('tab'), name).to.equal(parameter);
        await page.reload();
        await isOpen(name);
      }
      await console.go(page, `${resources.place('it.ttl')}&tab=nonsense`);
      await isOpen('Data');
    });

    it('keeps the words of properties whole in the table on a screen of 360 pixels', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      await console.go(page, `${resources.place('it.ttl')}&tab=table`);
      const remove = page.locator('.about').getByRole('button', { name: 'Delete …' });
      expect(await remove.isVisible()).to.equal(false);
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await remove.waitFor();
      await page.keyboard.press('Escape');
      await tab('Data').click();
      const property = page.locator('.triples tbody th[scope=row] a').first();
      await property.waitFor();
      const lines = await property.evaluate((each) => each.getClientRects().length);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      expect(lines).to.be.at.most((await property.innerText()).split(/[-/#:]/).length);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    it('keeps tabs in one line and owners in sight on a screen of 360 pixels', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      await console.go(page, 'admin?tab=transfer');
      await page.reload();
      await isOpen('Import and export');
      await until(async () => {
        const { x, width } = (await tab('Import and export').boundingBox())!;
        return x >= 0 && x + width <= 360;
      }, 'the selected tab is in sight');
      const lines = await page
        .getByRole('tab')
        .evaluateAll((all) => new Set(all.map((each) => each.getBoundingClientRect().top)).size);
      expect(lines).to.equal(1);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      await console.go(page, 'owners');
      const table = page.getByRole('region', { name: 'Owners' });
      await table.getByText('at the first start').waitFor();
      expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).to.equal(0);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    it('highlights Browse on the pages that it leads to', async () => {
      const [file, folder] = [resources.iri('it.ttl'), resources.iri('')].map((at) => new URLSearchParams({ at }));
      const browse = page.locator('.top nav a[aria-current=true]', { hasText: 'Browse' });
      for (const place of [resources.place('it.ttl'), `shapes?${folder}`, `form?${file}`, 'trash']) {
        await console.go(page, 'search');
        await browse.waitFor({ state: 'detached' });
        await console.go(page, place);
        await browse.waitFor();
      }
    });

    it('names the settings of features that are off under Status, also in a storage with content', async () => {
      await console.go(page, 'admin?tab=storage');
      const features = page.getByRole('list', { name: 'Features' });
      await features.getByText('--text-search.enabled=true').waitFor();
      expect(await features.getByText('--agents.enabled=true').count()).to.equal(0);
      expect(await axeFindings(page)).to.deep.equal([]);
    });

    it('lists the owner of the first start, and owners that were added', async () => {
      await console.go(page, 'owners');
      const table = page.getByRole('region', { name: 'Owners' });
      await table.getByText('at the first start').waitFor();
      expect(await table.getByRole('row').nth(1).innerText()).to.contain('(you)');
      await page.getByText('Enter an identity instead').click();
      await page.getByLabel('Identity', { exact: true }).fill(other);
      await page.getByLabel('Name', { exact: true }).fill('Mei');
      await page.getByRole('button', { name: 'Add owner' }).click();
      await table.getByText('Mei', { exact: true }).waitFor();
      expect(await table.getByRole('row').count()).to.equal(3);
      expect(await table.getByRole('button', { name: /Remove/ }).count(), 'the first owner stays').to.equal(1);
      expect(await axeFindings(page)).to.deep.equal([]);
      await table.getByRole('button', { name: 'Remove Mei' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove Mei' }).click();
      await table.getByText('Mei', { exact: true }).waitFor({ state: 'detached' });
    });

    it('makes an owner of somebody who asked, after a confirmation that shows the identity', async () => {
      const asker = await console.person();
      await asker.goto(console.at('signin'));
      await asker.getByRole('button', { name: 'Continue with this browser' }).click();
      await asker.locator('.who >> text=This browser').waitFor();
      const id = String(await asker.locator('.who span').getAttribute('title'));
      await console.go(page, 'owners');
      await page.getByText('Nobody has asked yet.').waitFor();
      await console.go(asker, `requests?${new URLSearchParams({ ask: resources.iri('') })}`);
      await asker.getByRole('button', { name: 'Request access', exact: true }).click();
      await asker.getByRole('cell', { name: 'Waiting' }).waitFor();
      await page.reload();
      const asked = page.getByRole('list', { name: 'People who asked' });
      await asked.getByText(/^did:key:.*, asked today/).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await asked.getByRole('button', { name: /^Make owner: / }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`compare this identity with the one that they tell you: ${id}`).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(await page.getByRole('region', { name: 'Owners' }).getByRole('row').count()).to.equal(2);
      await asked.getByRole('button', { name: /^Make owner: / }).click();
      await dialog.getByRole('button', { name: 'Make owner' }).click();
      await page.getByText('Nobody has asked yet.').waitFor();
      expect(await page.getByRole('region', { name: 'Owners' }).getByRole('row').count()).to.equal(3);
      await console.go(asker, 'owners');
      await asker.getByRole('region', { name: 'Owners' }).getByText('(you)').waitFor();
      await asker.context().close();
    });

    it('adds an agent with an identity, and rejects an address outside of the storage', async () => {
      await console.go(page, 'admin?tab=agents');
      await page.getByLabel('Name', { exact: true }).fill('librarian');
      await page.getByLabel('Identity', { exact: true }).fill(other);
      await page.getByRole('button', { name: 'Folder or item: All of the storage' }).click();
      await page.getByLabel('Address').fill('https://elsewhere.example/');
      await page.getByRole('button', { name: 'Add the agent' }).click();
      await page.locator('.notice.bad', { hasText: 'not in this storage' }).waitFor();
      await page.getByLabel('Address').fill(resources.iri('it.ttl'));
      await page.getByRole('button', { name: 'Add the agent' }).click();
      const table = page.getByRole('region', { name: 'Agents' });
      await table.getByText('librarian').waitFor();
      expect(await table.innerText())
        .to.match(/Read:/)
        .and.to.contain(other);
      expect(await axeFindings(page)).to.deep.equal([]);
      const explained = await resources.send(
        'GET',
        `.lws/explain?${new URLSearchParams({ as: other, method: 'GET', iri: resources.iri('it.ttl') })}`,
      );
      expect(JSON.parse(explained.text).allowed).to.equal(true);
    });

    it('shows a deletion once in the activity, without its moves into the trash', async () => {
      await resources.send('PUT', 'gone/', asContainer);
      for (const name of ['a', 'b', 'c']) await resources.put(`gone/${name}`, 'text/plain', name);
      await console.go(page, 'browse');
      await page.reload();
      await page.getByRole('checkbox', { name: 'Select gone' }).check();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: 'Delete “gone”' }).click();
      await page.locator('.notice', { hasText: '“gone” deleted.' }).waitFor();
      await console.go(page, 'admin?tab=activity');
      const table = page.getByRole('region', { name: 'What happened' });
      await table
        .getByRole('row', { name: /Delete/ })
        .first()
        .waitFor();
      expect(await table.innerText()).not.to.contain('.trash');
    });

    it('causes no script error or CSP violation', () => {
      expect(console.complaints).to.deep.equal([]);
    });
  });

describeInBrowser('The console of a storage with several owners', () => {
  const console = new Console();
  const [first, second] = [ed25519Identity(), ed25519Identity()];
  before(() => console.start({ settings: { owners: `${first.did},${second.did}` } }));
  after(() => console.stop());

  it('distinguishes owners without names by the end of their keys', async () => {
    const page = await console.person();
    const token = credential(first, { aud: console.server.root.slice(0, -1) });
    await page.goto(`${console.server.root}app#token=${token}`);
    // The page takes the token before it is asked for another place.
    await page.locator('.who [title^="did:key"]').waitFor();
    await console.go(page, 'owners');
    const table = page.getByRole('region', { name: 'Owners' });
    await table.getByText(`Owner (key ending …${first.did.slice(-4)}) (you)`).waitFor();
    await table.getByText(`Owner (key ending …${second.did.slice(-4)})`, { exact: true }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
  });
});
