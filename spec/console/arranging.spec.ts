/** Console: members of a container sorted, selected and moved in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';
import { isThorough } from '../support/speed.js';

for (const path of pathsOf('The console, arranging'))
  describeInBrowser(`The console, arranging, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
    });
    after(() => console.stop());

    const browse = async (name: string): Promise<void> => {
      await console.go(page, 'search');
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri(name) })}`);
      await page.locator('.listing tbody a').first().waitFor();
    };
    const names = (): Promise<string[]> => page.locator('.listing tbody a').allTextContents();
    const sort = (title: string): Promise<void> => page.getByRole('button', { name: title, exact: true }).click();
    const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
    const count = (text: string): Promise<void> =>
      page.getByRole('group', { name: 'Selected' }).getByText(text, { exact: true }).waitFor();
    const until = async (wanted: readonly string[]): Promise<void> => {
      await page.locator('.listing tbody a').filter({ hasText: wanted[0]! }).waitFor();
      for (let i = 0; i < 50 && String(await names()) !== String(wanted); i++) await page.waitForTimeout(100);
      expect(await names()).to.deep.equal(wanted);
    };

    it('sorts by name, type, size and date, in both directions, with folders first', async () => {
      await resources.send('PUT', 'sorted/', asContainer);
      await resources.send('PUT', 'sorted/folder/', asContainer);
      for (const [name, type, size] of [
        ['n10.txt', 'text/plain', 3],
        ['n2.csv', 'text/csv', 2000],
        ['n1.json', 'application/json', 30],
      ] as const)
        await resources.put(`sorted/${name}`, type, type === 'application/json' ? '1'.padEnd(size) : 'x'.repeat(size));
      await browse('sorted/');
      await until(['folder', 'n1.json', 'n2.csv', 'n10.txt']);
      await sort('Size');
      await until(['folder', 'n10.txt', 'n1.json', 'n2.csv']);
      await sort('Size');
      await until(['folder', 'n2.csv', 'n1.json', 'n10.txt']);
      expect(await page.getByRole('columnheader', { name: 'Size' }).getAttribute('aria-sort')).to.equal('descending');
      expect(await axeFindings(page)).to.deep.equal([]);
      await sort('Type');
      await until(['folder', 'n1.json', 'n2.csv', 'n10.txt']);
      await sort('Changed');
      await until(['folder', 'n10.txt', 'n2.csv', 'n1.json']);
      await sort('Name');
      await sort('Name');
      await until(['folder', 'n10.txt', 'n2.csv', 'n1.json']);
      await page.fill('input[type=search]', 'n1');
      await until(['n10.txt', 'n1.json']);
      await browse('sorted/');
      await until(['folder', 'n10.txt', 'n2.csv', 'n1.json']);
      await sort('Name');
    });

    it('selects rows with the Shift key, by keyboard and all', async () => {
      await browse('sorted/');
      await box('n1.json').click();
      await box('n10.txt').click({ modifiers: ['Shift'] });
      await count('3 selected');
      await box('n2.csv').click();
      await count('2 selected');
      await page.getByRole('button', { name: 'Clear selection' }).click();
      await box('folder').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+ArrowDown');
      await page.keyboard.press('Shift+ArrowDown');
      await count('3 selected');
      expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).to.equal('Select n10.txt');
      await page.getByRole('checkbox', { name: 'Select all' }).click();
      await count('4 selected');
      await page.getByRole('checkbox', { name: 'Select all' }).click();
      await page.getByRole('group', { name: 'Selected' }).waitFor({ state: 'detached' });
    });

    if (isThorough)
      it('sorts, selects, filters and scrolls 20 000 members, with few rows in the document', async () => {
        await resources.importMany('many/', 20_000);
        await browse('many/');
        await sort('Name');
        await page.locator('tr[aria-rowindex="2"] a', { hasText: 'n19999' }).waitFor();
        await page.getByRole('checkbox', { name: 'Select all' }).click();
        await count('20,000 selected');
        await box('n19999').click();
        await count('19,999 selected');
        await page.fill('input[type=search]', 'n');
        await page.getByText('20,000 of 20,000 have that name').waitFor();
        await page.fill('input[type=search]', '1999');
        await until([
          'n19999',
          'n19998',
          'n19997',
          'n19996',
          'n19995',
          'n19994',
          'n19993',
          'n19992',
          'n19991',
          'n19990',
          'n11999',
          'n1999',
        ]);
        await page.fill('input[type=search]', '');
        await page.getByText('20,000 items').waitFor();
        await page.evaluate("document.querySelector('.listing').scrollTo(0, 1e6)");
        await page.locator('tr[aria-rowindex="20001"] a', { hasText: 'n0' }).waitFor();
        expect(await page.locator('tbody tr').count()).to.be.below(80);
      });

    it('computes the size of selected folders', async () => {
      await browse('sorted/');
      await resources.put('sorted/folder/inner', 'text/plain', 'x'.repeat(3000));
      const selection = page.getByRole('group', { name: 'Selected' });
      const size = selection.getByRole('button', { name: 'Folder size' });
      await box('n1.json').click();
      await count('1 selected');
      expect(await size.count()).to.equal(0);
      await box('folder').click();
      await size.click();
      await selection.getByText('2.9 KiB in 1 item').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await box('n1.json').click();
      await size.waitFor();
      await resources.delete('sorted/folder/inner');
    });

    it('moves dragged members into a folder, with their relative links', async () => {
      await resources.put('sorted/rdf', 'text/turtle', '<> <#p> <n10.txt> .');
      await browse('sorted/');
      for (const name of ['rdf', 'n10.txt']) await box(name).click();
      await page.locator('tr', { hasText: 'n10.txt' }).dragTo(page.locator('tr', { hasText: 'folder' }));
      await page.locator('.notice', { hasText: '2 items moved.' }).waitFor();
      await until(['folder', 'n1.json', 'n2.csv']);
      expect(await resources.text('sorted/folder/rdf')).to.contain('<#p>');
      expect((await resources.send('GET', 'sorted/folder/n10.txt')).status).to.equal(200);
      await page.locator('tr', { hasText: 'folder' }).dragTo(page.locator('tr', { hasText: 'n1.json' }));
      expect(await names()).to.deep.equal(['folder', 'n1.json', 'n2.csv']);
    });

    it('renames and moves in a dialog, and reports existing names', async () => {
      await browse('sorted/');
      const dialog = page.locator('dialog[open]');
      const move = async (to: string): Promise<void> => {
        await page.getByRole('button', { name: 'Rename or move …' }).click();
        await dialog.getByRole('textbox', { name: 'New path' }).fill(to);
        await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      };
      await box('n1.json').click();
      await move('sorted/ä 1.json');
      await page.locator('.notice', { hasText: '“n1.json” moved.' }).waitFor();
      await until(['folder', 'ä 1.json', 'n2.csv']);
      await box('folder').click();
      await move('sorted/renamed');
      await until(['renamed', 'ä 1.json', 'n2.csv']);
      expect((await resources.send('GET', 'sorted/renamed/n10.txt')).status).to.equal(200);
      await box('n2.csv').click();
      await move('sorted/ä 1.json');
      await dialog.locator('.notice.bad', { hasText: 'The Destination exists.' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await dialog.locator('.notice.bad button').click();
      await dialog.getByRole('textbox', { name: 'New path' }).fill('sorted/../x');
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await dialog.locator('.notice.bad', { hasText: 'is not a valid path' }).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    });

    it('offers the actions of a row in its menu, and leaves other selected rows alone', async () => {
      await resources.send('PUT', 'menus/', asContainer);
      for (const name of ['a.md', 'b.md']) await resources.put(`menus/${name}`, 'text/markdown', name);
      await browse('menus/');
      await page.getByRole('cell', { name: 'Markdown' }).first().waitFor();
      const menu = page.locator('.row-menu');
      const open = (name: string): Promise<void> => page.getByRole('button', { name: `Actions for ${name}` }).click();
      await box('b.md').click();
      await open('a.md');
      expect(await menu.locator('a, button').allInnerTexts()).to.deep.equal([
        'Open',
        'Copy link',
        'Download',
        'Share',
        'Rename or move …',
        'Delete',
      ]);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.keyboard.press('Escape');
      await menu.waitFor({ state: 'hidden' });
      expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Actions for a.md');
      await open('a.md');
      await menu.getByRole('button', { name: 'Delete' }).click();
      await page.locator('dialog').getByRole('button', { name: 'Delete “a.md”' }).click();
      await until(['b.md']);
    });

    it('moves several members to a chosen folder, keeps what was refused, and moves them back', async () => {
      for (const name of ['moving/', 'moving/here/']) await resources.send('PUT', name, asContainer);
      for (const name of ['a.txt', 'b.txt', 'here/b.txt']) await resources.put(`moving/${name}`, 'text/plain', name);
      await browse('moving/');
      await box('a.txt').click();
      await box('b.txt').click();
      await page.getByRole('button', { name: 'Move …' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByRole('button', { name: 'here', exact: true }).click();
      expect(await dialog.getByRole('textbox', { name: 'New path' }).inputValue()).to.equal('moving/here/');
      expect(await axeFindings(page)).to.deep.equal([]);
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await dialog.locator('.notice.bad', { hasText: 'The Destination exists.' }).waitFor();
      await page.getByRole('group', { name: 'Selected' }).getByText('1 selected').waitFor();
      expect(await box('b.txt').isChecked(), 'the refused member').to.equal(true);
      await dialog.getByRole('button', { name: 'Folder above' }).click();
      await dialog.getByRole('button', { name: 'Folder above' }).click();
      await dialog.getByRole('button', { name: 'sorted', exact: true }).click();
      expect(await dialog.getByRole('textbox', { name: 'New path' }).inputValue()).to.equal('sorted/b.txt');
      await dialog.getByRole('button', { name: 'Move', exact: true }).click();
      await until(['here']);
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.locator('.notice', { hasText: 'Moved back.' }).waitFor();
      await until(['here', 'b.txt']);
      expect((await resources.send('GET', 'moving/here/a.txt')).status, 'moved before the refusal').to.equal(200);
    });

    it('renames, opens, deletes and filters by keys, and restores what was deleted', async () => {
      await resources.send('PUT', 'keyed/', asContainer);
      for (const name of ['a.txt', 'b.txt']) await resources.put(`keyed/${name}`, 'text/plain', name);
      await browse('keyed/');
      await page.getByRole('region', { name: 'Items' }).focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('F2');
      const path = page.locator('dialog[open]').getByRole('textbox', { name: 'New path' });
      await path.waitFor();
      expect(await path.inputValue()).to.equal('keyed/b.txt');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Clear selection' }).click();
      await box('a.txt').focus();
      await page.keyboard.press('Delete');
      await page.locator('dialog[open]').getByRole('button', { name: 'Delete “a.txt”' }).click();
      await until(['b.txt']);
      expect((await resources.send('GET', 'keyed/a.txt')).status).to.equal(404);
      await page.locator('.notice').getByRole('button', { name: 'Undo' }).click();
      await until(['a.txt', 'b.txt']);
      expect(await resources.text('keyed/a.txt')).to.equal('a.txt');
      await page.keyboard.press('/');
      await page.keyboard.type('b/');
      expect(await page.getByRole('searchbox').inputValue(), 'a slash in the field is typed').to.equal('b/');
      await page.getByRole('searchbox').fill('');
      await until(['a.txt', 'b.txt']);
      await box('b.txt').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'b.txt' }).waitFor();
    });

    it('shows whole names beside the preview, without type and date', async () => {
      await resources.send('PUT', 'long/', asContainer);
      const name = 'a-file-with-a-name-of-forty-characters.txt';
      await resources.put(`long/${name}`, 'text/plain', 'x');
      await browse('long/');
      const headings = () => page.locator('.listing thead th:visible').count();
      expect(await headings()).to.equal(6);
      await box(name).click();
      await page.locator('browse-preview .cm-content').waitFor();
      expect(await headings()).to.equal(4);
      const cell = page.locator('.listing td', { hasText: name });
      expect(await cell.evaluate((each) => each.scrollWidth <= each.clientWidth), 'the name is not cut').to.equal(true);
    });
  });
