/** Console: preview of the selected member in Browse. Nothing in it is executed or loaded from elsewhere. */
import { crc32, deflateSync } from 'node:zlib';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';
import { until } from '../support/until.js';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Black, with 400 million pixels in 49 kB. */
function hugePng(): Buffer {
  const side = 20_000;
  const chunk = (type: string, data: Buffer): Buffer => {
    const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    const body = Buffer.concat([Buffer.from(type), data]);
    length.writeUInt32BE(data.length);
    crc.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, crc]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
  for (const at of [0, 4]) header.writeUInt32BE(side, at);
  const rows = deflateSync(Buffer.alloc(side * (side / 8 + 1)));
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
const markdown = `# Title <img src=x onerror=top.ran=1>

Some **bold**, *soft* and \`code\` text,
with [a link](table.csv), [another](https://example.org/a) and [a script](javascript:top.ran=1).
![a picture](https://example.org/tracker.png)

- one
  - nested ~~gone~~
- two &amp; [third][ref]

| name | value |
|------|-------|
| a    | **b** |

[ref]: table.csv

1. first

> quoted

\`\`\`
<b>raw</b>
\`\`\`
---
`;

for (const path of pathsOf('The console, preview in Browse'))
  describeInBrowser(`The console, preview in Browse, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
      await resources.send('PUT', 'docs/', asContainer);
      await resources.send('PUT', 'docs/inner/', asContainer);
      for (const [name, type, body] of [
        ['a.md', 'text/markdown', markdown],
        ['table.csv', 'text/csv', `name,"a ""b"", c"\r\n"1\n2",<i>x</i>\r\n${'r,s\n'.repeat(300)}`],
        ['semi.csv', 'text/csv', 'a;b\n1;2'],
        ['data', 'text/turtle', '<> a <#Thing> .'],
        ['picture.png', 'image/png', png],
        ['bytes', 'application/octet-stream', 'x'],
        ['hostile.md', 'text/markdown', `${'[`*'.repeat(50_000)}`],
        ['long.txt', 'text/plain', 'word '.repeat(100_000)],
      ] as const)
        await resources.put(`docs/${name}`, type, body);
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('docs/') })}`);
    });
    after(() => console.stop());

    const pane = () => page.getByRole('region', { name: 'Preview' });
    /** Selects one member. */
    const show = async (name: string): Promise<void> => {
      const nothing = page.getByRole('button', { name: 'Clear selection' });
      if (await nothing.isVisible()) await nothing.click();
      await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check();
      await pane().getByRole('heading', { level: 2, name, exact: true }).waitFor();
    };

    it('renders Markdown without its HTML, scripts and pictures', async () => {
      await show('a.md');
      await pane().getByRole('heading', { level: 3, name: 'Title <img src=x onerror=top.ran=1>' }).waitFor();
      const counts = ['strong', 'em', 'code', 'ul li', 'ol li', 'blockquote', 'pre', 'hr'].map((tag) =>
        pane().locator(tag).count(),
      );
      expect(await Promise.all(counts)).to.deep.equal([2, 1, 1, 3, 1, 1, 1, 1]);
      await pane().getByText('two & third').waitFor();
      expect(await pane().locator('ul ul li s').textContent()).to.equal('gone');
      expect(await pane().locator('tbody td').allTextContents()).to.deep.equal(['a', 'b']);
      expect(await pane().locator('pre').textContent()).to.equal('<b>raw</b>');
      expect(await pane().locator('img, script, b, i').count()).to.equal(0);
      const links: (string | null)[] = [];
      for (const each of await pane().locator('p a').all()) links.push(await each.getAttribute('href'));
      expect(links).to.deep.equal([
        `#/resource?${new URLSearchParams({ at: resources.iri('docs/table.csv') })}`,
        'https://example.org/a',
        'https://example.org/tracker.png',
      ]);
      expect(await page.evaluate('top.ran')).to.equal(undefined);
      expect(await axeFindings(page)).to.deep.equal([]);
    });

    it('shows the rows of CSV as a table', async () => {
      await show('table.csv');
      await pane().getByRole('columnheader', { name: 'a "b", c' }).waitFor();
      await pane().getByText('301 rows.').waitFor();
      const first = await pane().locator('tbody tr:not(.space)').first().locator('td').allInnerTexts();
      expect(first.map((text) => text.trim().replace('\n', ' '))).to.deep.equal(['1 2', '<i>x</i>']);
      expect(await axeFindings(page)).to.deep.equal([]);
      await show('semi.csv');
      await pane().getByText('1 row.').waitFor();
      expect(await pane().locator('td.number').allTextContents()).to.deep.equal(['1', '2']);
      expect((await pane().locator('th').allInnerTexts()).map((text) => text.trim())).to.deep.equal(['a', 'b']);
    });

    it('shows source with highlighting, pictures, and what cannot be shown', async () => {
      await show('data');
      await pane()
        .locator('.cm-content[contenteditable=false], .cm-content[aria-readonly=true]')
        .filter({ hasText: 'a <#Thing>' })
        .waitFor();
      await show('picture.png');
      await pane().locator('img.picture').waitFor();
      await show('bytes');
      await pane().getByText('Download it to open it on your computer.').waitFor();
      await show('long.txt');
      await pane().getByText('Only the beginning is shown.').waitFor();
      await show('hostile.md');
      await pane().locator('p').first().waitFor();
    });

    it('shows thumbnails of small images in the rows, loaded when they are visible', async () => {
      await resources.send('PUT', 'images/', asContainer);
      const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
      for (const [name, type, body] of [
        ['0.png', 'image/png', png],
        ['1-broken.png', 'image/png', 'no image'],
        ['2-html.png', 'image/png', '<script>top.ran=1</script>'],
        ['3.svg', 'image/svg+xml', svg],
        ['5-huge.png', 'image/png', hugePng()],
        ['4-large.png', 'image/png', Buffer.concat([png, Buffer.alloc(1 << 20)])],
        ...Array.from({ length: 60 }, (_, i) => [`n${i}.png`, 'image/png', png] as const),
      ] as const)
        await resources.put(`images/${name}`, type, body);
      const read: string[] = [];
      page.on('request', (request) => {
        if (/images\/[^?]+$/.test(request.url())) read.push(request.url().replace(/^.*\//, ''));
      });
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('images/') })}`);
      const isDrawn = (name: string): Promise<boolean> =>
        page.evaluate(
          `[...document.querySelectorAll('tr')].find((row) => row.textContent.includes('${name}'))?.querySelector('canvas')` +
            "?.getContext('2d').getImageData(0, 0, 64, 64).data.some((value) => value > 0) ?? false",
        );
      const drawn = (name: string): Promise<void> => until(() => isDrawn(name), `${name} is drawn`);
      await drawn('0.png');
      await drawn('n1.png');
      expect(read).to.include('1-broken.png').and.include('5-huge.png').and.not.include('n59.png');
      for (const name of ['1-broken.png', '2-html.png', '5-huge.png'])
        expect(await isDrawn(name), name).to.equal(false);
      for (const name of ['3.svg', '4-large.png']) {
        expect(read).not.to.include(name);
        expect(await page.locator('tr', { hasText: name }).locator('canvas').count()).to.equal(0);
      }
      await page.evaluate("document.querySelector('.listing').scrollTo(0, 1e6)");
      await drawn('n59.png');
      await page.evaluate("document.querySelector('.listing').scrollTo(0, 0)");
      await drawn('0.png');
      expect(read.filter((name) => name === '0.png')).to.have.length(1);
      expect(await page.evaluate('top.ran')).to.equal(undefined);
      expect(await axeFindings(page)).to.deep.equal([]);
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('docs/') })}`);
    });

    it('shows nothing for containers and several members', async () => {
      await show('data');
      await page.getByRole('checkbox', { name: 'Select a.md', exact: true }).check();
      await pane().waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Clear selection' }).click();
      await page.getByRole('checkbox', { name: 'Select inner', exact: true }).check();
      await page.getByText('1 selected').waitFor();
      expect(await pane().count()).to.equal(0);
    });
  });
