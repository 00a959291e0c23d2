/** Console: the trash in a browser (rule 26.6). */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';

for (const path of pathsOf('The console, trash'))
  describeInBrowser(`The console, trash, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
    });
    after(() => console.stop());

    const status = async (name: string): Promise<number> => (await resources.send('GET', name)).status;
    const browse = async (name: string): Promise<void> => {
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri(name) })}`);
    };
    const question = () => page.locator('dialog[open]');
    const inTrash = async (): Promise<void> => {
      await browse('');
      await page.locator('summary', { hasText: 'More' }).click();
      await page.getByRole('link', { name: 'Trash', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Trash' }).waitFor();
    };

    it('moves selected members to the trash, and restores them to their place (rule 26.6)', async () => {
      await inTrash();
      await page.getByText('The trash is empty').waitFor();
      for (const name of ['some/', 'some/inner/']) await resources.send('PUT', name, asContainer);
      for (const name of ['some/a b.txt', 'some/inner/c.txt'].map(encodeURI))
        await resources.put(name, 'text/plain', name);
      await browse('some/');
      for (const name of ['a b.txt', 'inner']) await page.check(`[aria-label="Select ${name}"]`);
      await page.getByRole('group', { name: 'Selected' }).getByRole('button', { name: 'Delete' }).click();
      await question().getByText('2 items will move to the trash').waitFor();
      await question().getByText('Owners can restore it for 30 days.').waitFor();
      await question().getByRole('button', { name: 'Delete 2 items' }).click();
      await page.locator('.notice', { hasText: '2 items deleted.' }).waitFor();
      expect([await status('some/a%20b.txt'), await status('some/inner/c.txt')]).to.deep.equal([404, 404]);
      await inTrash();
      expect(await page.locator('page-trash tbody tr').count(), 'one row for one deletion').to.equal(1);
      await console.go(page, 'admin?tab=transfer');
      await page.getByRole('button', { name: 'Folder: All of the storage', exact: true }).click();
      await page.getByRole('button', { name: 'some', exact: true }).waitFor();
      expect(await page.getByRole('button', { name: '.trash', exact: true }).count(), 'as a folder').to.equal(0);
      await inTrash();
      await page.getByText('2 items of some/').click();
      await page.getByRole('listitem').filter({ hasText: 'some/inner/' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByRole('button', { name: 'Restore 2 items of some/' }).click();
      await page.locator('h1', { hasText: 'some' }).waitFor();
      expect([await status('some/a%20b.txt'), await status('some/inner/c.txt')]).to.deep.equal([200, 200]);
      await page.check('[aria-label="Select a b.txt"]');
      await page.getByRole('group', { name: 'Selected' }).getByRole('button', { name: 'Delete' }).click();
      await question().getByRole('button', { name: 'Delete “a b.txt”' }).click();
      await page.locator('.notice', { hasText: '“a b.txt” deleted.' }).waitFor();
    });

    it('reports an existing name, and deletes permanently after a confirmation', async () => {
      await resources.put('some/a%20b.txt', 'text/plain', 'new');
      await inTrash();
      await page.getByRole('button', { name: 'Restore some/a b.txt' }).click();
      await page.locator('.notice.bad', { hasText: 'exists. Rename or delete that resource' }).waitFor();
      const remove = page.getByRole('button', { name: 'Delete permanently some/a b.txt' });
      await remove.click();
      await question().getByText('This cannot be undone.').waitFor();
      await question().getByRole('button', { name: 'Cancel' }).click();
      await remove.click();
      await question().getByRole('button', { name: 'Delete permanently' }).click();
      await page.getByText('The trash is empty').waitFor();
      expect((await resources.send('GET', '.trash/')).status).to.equal(404);
    });

    it('moves an open resource to the trash, in the version that the user saw (rule 26.6)', async () => {
      await resources.put('seen.txt', 'text/plain', 'first');
      await resources.open(page, 'seen.txt');
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('button', { name: 'Delete …' }).click();
      await question().getByText('It moves to the trash, and owners can restore it for 30 days.').waitFor();
      await resources.put('seen.txt', 'text/plain', 'second');
      await question().getByRole('button', { name: 'Delete', exact: true }).click();
      await question().getByText('Another user changed this item').waitFor();
      await question().getByRole('button', { name: 'Delete the changed version' }).click();
      await page.locator('.notice', { hasText: 'seen.txt is deleted.' }).waitFor();
      await inTrash();
      await page.getByRole('button', { name: 'Restore seen.txt' }).click();
      await page.getByRole('heading', { level: 1, name: 'seen.txt' }).waitFor();
      expect(await resources.text('seen.txt')).to.equal('second');
    });

    it('deletes permanently what exceeds the limits, and without a trash, and says so (rule 26.6)', async () => {
      await resources.send('PUT', 'large/', asContainer);
      await page.route('**/.lws/trash', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        const type = 'urn:problem-type:quadpod:too-complex';
        await route.fulfill({ status: 422, json: { type, title: 'Too complex', detail: 'At most 5000 resources.' } });
      });
      const begin = async (name: string): Promise<void> => {
        await console.go(page, 'search');
        await browse('');
        await page.check(`[aria-label="Select ${name}"]`);
        await page.getByRole('group', { name: 'Selected' }).getByRole('button', { name: 'Delete' }).click();
      };
      await begin('large');
      await question().getByRole('button', { name: 'Delete “large”' }).click();
      await question()
        .getByText('“large” cannot move to the trash: At most 5000 resources. Delete it permanently?')
        .waitFor();
      await question().getByRole('button', { name: 'Delete permanently' }).click();
      await page.locator('.notice', { hasText: '“large” deleted.' }).waitFor();
      expect(await status('large/')).to.equal(404);
      await resources.put('large.txt', 'text/plain', 'x');
      await resources.open(page, 'large.txt');
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('button', { name: 'Delete …' }).click();
      await question().getByText('It moves to the trash').waitFor();
      const confirm = question().getByRole('button', { name: 'Delete', exact: true });
      await confirm.click();
      await question().getByText('These go with it, at once and for good').waitFor();
      await confirm.click();
      await page.locator('.notice', { hasText: 'large.txt is deleted.' }).waitFor();
      expect(await status('large.txt')).to.equal(404);
      await page.unroute('**/.lws/trash');

      const other = await console.person();
      // As with lws.trash.days=0.
      await other.route('**/.lws/trash', (route) => route.fulfill({ status: 404 }));
      await other.route('**/.lws/storage-description', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, body: (await answer.text()).replace('TrashService', 'OtherService') });
      });
      await resources.send('PUT', 'large/', asContainer);
      page = other;
      await other.goto(console.ownerLink);
      await other.locator('.who [title^="did:key"]').waitFor();
      await begin('large');
      await question().getByText('This cannot be undone.').waitFor();
      await question().getByRole('button', { name: 'Delete “large”' }).click();
      await page.locator('.notice', { hasText: '“large” deleted.' }).waitFor();
      expect((await resources.send('GET', '.trash/')).status).to.equal(404);
      await console.go(page, 'trash');
      await page.getByText('There is no trash').waitFor();
    });
  });
