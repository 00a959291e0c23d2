/** Console: previews of resources of all media types, in a browser. Nothing in them is executed. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources, editor } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80" onload="top.ran=1"><script>top.ran=1;alert(1)</script>' +
  '<image href="https://example.org/x.png"/><circle cx="40" cy="40" r="30" fill="teal"/></svg>';
const pdf =
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj ' +
  '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>';

for (const path of pathsOf('The console, previews'))
  describeInBrowser(`The console, previews, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
      page.on('dialog', (dialog) => {
        console.complaints.push(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
    });
    after(() => console.stop());

    /** Stores and opens a resource. */
    const opened = async (name: string, mediaType: string, body: string | Uint8Array): Promise<void> => {
      await resources.put(name, mediaType, body);
      await resources.open(page, name);
    };
    const link = (on: Page, name: string) => on.locator('main').getByRole('link', { name, exact: true });
    const href = (name: string, parameter: 'at' | 'ask', to: string): string =>
      `#/${name}?${new URLSearchParams({ [parameter]: resources.iri(to) })}`;

    it('shows JSON, plain text and HTML as text', async () => {
      for (const [name, mediaType, body] of [
        ['some.json', 'application/json', '{"some": ["json", 1.50]}'],
        ['some.txt', 'text/plain', 'Some text.'],
        ['some.html', 'text/html', '<h1>No title</h1><script>document.body.remove()</script>'],
        ['some.js', 'text/javascript', 'document.body.remove()'],
      ] as const) {
        await opened(name, mediaType, body);
        await editor(page).filter({ hasText: body }).waitFor();
        expect(await page.locator('main h1').count(), name).to.equal(1);
      }
      expect(await axeFindings(page)).to.deep.equal([]);
      expect(await page.locator('.title').textContent())
        .to.contain('text/javascript')
        .and.to.contain('22 B');
    });

    it('shows images and executes no script in them', async () => {
      for (const [name, mediaType, body, width] of [
        ['dot.png', 'image/png', png, 1],
        ['drawn.svg', 'image/svg+xml', svg, 80],
      ] as const) {
        await opened(name, mediaType, body);
        await page.waitForFunction(`document.querySelector('img.picture')?.naturalWidth === ${width}`);
        expect(await page.getAttribute('img.picture', 'alt')).to.equal(name);
        expect(await page.getAttribute('img.picture', 'src')).to.match(/^blob:/);
      }
      expect(await axeFindings(page)).to.deep.equal([]);
      expect(await page.evaluate('window.ran')).to.equal(undefined);
      await opened('broken.png', 'image/png', 'no picture');
      await page.locator('text=The browser cannot show this picture').waitFor();
    });

    it('shows a PDF in a frame, and offers other files for download', async () => {
      await opened('some.pdf', 'application/pdf', pdf);
      expect(await page.getAttribute('iframe', 'src')).to.match(/^blob:/);
      expect(await page.getAttribute('iframe', 'title')).to.equal('some.pdf');
      for (const [name, mediaType, body, message] of [
        ['some.bin', 'application/octet-stream', new Uint8Array(2000), '2.0 KiB'],
        ['large.txt', 'text/plain', 'x'.repeat(6_000_000), 'larger than 5 MB'],
        ['latin.txt', 'text/plain;charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1'), 'iso-8859-1'],
        ['no-text.txt', 'text/plain', Buffer.from([0xff, 0xfe, 0x41]), 'not UTF-8 text'],
      ] as const) {
        await opened(name, mediaType, body);
        await page.locator('.empty', { hasText: message }).waitFor();
        const saving = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Download' }).click();
        expect((await saving).suggestedFilename()).to.equal(name);
      }
    });

    it('shows values with short times, so that three columns fit a phone, and their number first', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      const rows = [
        '2025-06-01T12:00:00Z,bern,14.25',
        '2025-06-02T00:00:00.000+00:00,basel,15',
        '2025-06-02T12:30:15Z,x,1',
      ];
      await opened('values.csv', 'text/csv', `time,station,celsius\n${rows.join('\n')}\n`);
      await page.locator('rendered-text ask-table .scroll').waitFor();
      expect(await page.locator('rendered-text .row > .grow').first().innerText()).to.equal('3 rows.');
      const cells = page.locator('rendered-text td:first-child');
      expect(await cells.allInnerTexts()).to.deep.equal([
        '2025-06-01 12:00',
        '2025-06-02 00:00',
        '2025-06-02T12:30:15Z',
      ]);
      expect(await cells.first().getAttribute('title')).to.equal('2025-06-01T12:00:00Z');
      expect(await cells.last().getAttribute('title')).to.equal(null);
      await page.click('rendered-text .answer .sort >> nth=2');
      await page.locator('rendered-text th[aria-sort=ascending]').waitFor();
      expect(await page.locator('rendered-text td:nth-child(3)').first().innerText()).to.equal('1');
      await page.getByRole('button', { name: 'Chart', exact: true }).click();
      await page.locator('rendered-text .chart[aria-label^="Lines of celsius by time"] canvas').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await opened('value.csv', 'text/csv', `time,station,celsius\n${rows[0]}\n`);
      await page.locator('rendered-text >> text=1 row.').waitFor();
      const hidden =
        "{ const { scrollWidth, clientWidth } = document.querySelector('rendered-text .scroll'); scrollWidth - clientWidth }";
      expect(await page.evaluate(hidden)).to.equal(0);
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    it('links to the sharing page of a resource', async () => {
      await resources.open(page, 'some.txt');
      expect(await link(page, 'Share').getAttribute('href')).to.equal(href('sharing', 'at', 'some.txt'));
    });

    it('reports a nonexistent resource and links to the nearest folder that exists', async () => {
      await resources.send('PUT', 'within/', asContainer);
      await resources.open(page, 'within/absent');
      await page.locator('.refused', { hasText: 'There is nothing at this address' }).waitFor();
      expect(await page.getByRole('alert').count()).to.equal(0);
      expect(await link(page, 'Look in the trash').getAttribute('href')).to.equal('#/trash');
      expect(await link(page, 'Open within').getAttribute('href')).to.equal(href('browse', 'at', 'within/'));
      expect(await link(page, 'Request access').count()).to.equal(0);
      expect(await axeFindings(page)).to.deep.equal([]);
      await resources.open(page, 'within/gone/deep/absent');
      await page.getByText('The nearest folder that exists is /within/.').waitFor();
      expect(await link(page, 'Open within').getAttribute('href')).to.equal(href('browse', 'at', 'within/'));
    });

    it('offers sign-in to anonymous callers, and an access request to callers without read access', async () => {
      const guest = await console.person({ colorScheme: 'dark' });
      await guest.goto(console.at(resources.place('some.txt')));
      await guest.locator('.refused').waitFor();
      const asking = `#/signin?${new URLSearchParams({ to: href('requests', 'ask', 'some.txt') })}`;
      expect(await link(guest, 'Request access').getAttribute('href')).to.equal(asking);
      expect(await axeFindings(guest)).to.deep.equal([]);
      await link(guest, 'Sign in').click();
      await guest.getByRole('button', { name: 'Continue with this browser' }).click();
      await guest.locator('.who >> text=This browser').waitFor();
      for (const name of ['some.txt', 'within/absent']) {
        await resources.open(guest, name);
        expect(await link(guest, 'Request access').getAttribute('href')).to.equal(href('requests', 'ask', name));
      }
      expect(await axeFindings(guest)).to.deep.equal([]);
      await link(guest, 'Request access').click();
      await guest.getByRole('heading', { level: 1, name: 'Requests for access' }).waitFor();
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });

for (const path of pathsOf('The console, previews for anonymous callers'))
  describeInBrowser(`The console, previews for anonymous callers, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    before(() => console.start({ path, settings: { 'public-read': 'true' } }));
    after(() => console.stop());

    it('shows public resources to anonymous callers, and only permitted actions', async () => {
      await resources.put('public.ttl', 'text/turtle', '<#it> <#is> "public" .');
      await resources.put('dot.png', 'image/png', png);
      const page = await console.person();
      await page.goto(`${console.server.root}app`);
      await page.click('td a:text-is("public.ttl")');
      await page.locator('.triples td', { hasText: 'public' }).waitFor();
      expect(await link(page, 'Share')).to.equal(0);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByRole('tab', { name: 'Source' }).click();
      await editor(page).filter({ hasText: '"public"' }).waitFor();
      expect(await page.getByRole('button', { name: 'Delete …' }).count()).to.equal(0);
      await resources.open(page, 'dot.png');
      await page.waitForFunction("document.querySelector('img.picture')?.naturalWidth === 1");
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      expect((await saving).suggestedFilename()).to.equal('dot.png');
    });

    const link = (page: Page, name: string): Promise<number> =>
      page.locator('main').getByRole('link', { name, exact: true }).count();

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
