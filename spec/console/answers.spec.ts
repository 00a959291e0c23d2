/** Console: query results in a browser. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ask, example, expectAccessible, queryText, showAs } from '../support/asking.js';
import { Console, describeInBrowser } from '../support/browser.js';
import { pathsOf } from '../support/places.js';

const numbers = Array.from({ length: 12 }, (_, index) => index).join(' ');
/** Query with 1728 rows that needs no data. */
const many = `SELECT * { VALUES ?a { ${numbers} } VALUES ?b { ${numbers} } VALUES ?c { ${numbers} } }`;
/** Bounding box of the chart after layout. */
const placeOfChart = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const over = document.querySelector('.chart .u-over');
  over.scrollIntoView({ block: 'center' });
  resolve(over.getBoundingClientRect().toJSON());
})))`;

for (const path of pathsOf('The console, query results'))
  describeInBrowser(`The console, query results, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    const dialogs: string[] = [];
    before(async () => {
      await console.start({ path });
      page = await console.owner();
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await console.go(page, 'ask');
      await page.locator(queryText).waitFor();
    });
    after(() => console.stop());

    it('renders only the visible rows of a long result, sorts numbers by value and filters', async () => {
      expect(await ask(page, many)).to.match(/^1,728 rows in /);
      const rows = page.locator('.answer tbody tr');
      expect(await rows.count()).to.be.below(100);
      await page.evaluate("document.querySelector('.answer').scrollTo(0, 1e6)");
      await page.locator('.answer tr[aria-rowindex="1729"]').waitFor();
      expect(await rows.count()).to.be.below(100);
      await expectAccessible(page);
      const first = page.locator('.answer tbody tr:not(.space) >> nth=0 >> td >> nth=2');
      for (const [direction, value] of [
        ['ascending', /^0/],
        ['descending', /^11/],
      ] as const) {
        await page.click('.answer .sort >> nth=2');
        await page.locator(`th[aria-sort=${direction}]`).waitFor();
        expect(await first.innerText()).to.match(value);
      }
      await ask(page, 'SELECT * { VALUES (?n ?word) { (9 "pear") (10 "Apple") (-1.5 "apple pie") } }');
      await showAs(page, 'Table');
      await page.fill('ask-table input', 'APPLE');
      await page.locator('ask-table [role=status]', { hasText: '2 of 3 rows' }).waitFor();
      await page.click('.answer .sort >> nth=0');
      await page.locator('th[aria-sort=ascending]').waitFor();
      expect(await page.locator('.answer td:nth-child(2)').allInnerTexts()).to.deep.equal(['apple pie', 'Apple']);
    });

    it('downloads a result as CSV', async () => {
      const terms = ['("a, b"@en 1)', '("\\"c\\"" 2.5)', '("d\\ne" UNDEF)', '(<urn:x:y> "f")'];
      expect(await ask(page, `SELECT ?what ?size { VALUES (?what ?size) { ${terms.join(' ')} } }`)).to.match(/^4 rows/);
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download', exact: true }).click();
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      const file = await saving;
      expect(file.suggestedFilename()).to.equal('answer.csv');
      const lines = ['what,size', '"a, b",1', '"""c""",2.5', '"d\ne",', 'urn:x:y,f', ''];
      expect(readFileSync(await file.path(), 'utf8')).to.equal(lines.join('\r\n'));
    });

    it('draws numbers as a chart', async () => {
      await example(page, 'Example of a chart');
      await page.locator('.chart[aria-label^="Bars of rain, sun by month"]').waitFor();
      const inks = `new Set(new Uint32Array(document.querySelector('.chart canvas').getContext('2d')
        .getImageData(0, 0, 800, 300).data.buffer)).size`;
      expect(await page.evaluate(inks)).to.be.above(2);
      await page.selectOption('ask-chart select >> nth=0', 'lines');
      await page.uncheck('ask-chart label:has-text("sun") input');
      await page.locator('.chart[aria-label^="Lines of rain by month"]').waitFor();
      expect(await page.locator('.chart canvas').count()).to.equal(1);
      await expectAccessible(page);
      await page.uncheck('ask-chart label:has-text("rain") input');
      await page.locator('text=Choose a column of numbers').waitFor();
    });

    it('draws a graph, moves a dragged node without opening it, and selects nodes with arrow keys', async () => {
      expect(await example(page, 'Example of a graph')).to.match(/^6 triples in /);
      await page.locator('ask-graph [role=status]', { hasText: '5 nodes, 6 links: all 6 triples.' }).waitFor();
      await expectAccessible(page);
      const node = page.locator('a.node[aria-label$="paper1"]');
      const place = await node.getAttribute('transform');
      await page.locator('svg.graph').scrollIntoViewIfNeeded();
      const { x, y, width } = (await node.locator('circle').boundingBox())!;
      await page.mouse.move(x + width / 2, y + width / 2);
      await page.mouse.down();
      await page.mouse.move(x + 60, y + 50, { steps: 5 });
      await page.mouse.up();
      expect(await node.getAttribute('transform')).to.not.equal(place);
      expect(page.context().pages()).to.deep.equal([page]);
      await page.focus('a.node[tabindex="0"]');
      const focused = 'document.activeElement.getAttribute("aria-label")';
      const before = await page.evaluate(focused);
      for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']) await page.keyboard.press(key);
      expect(await page.evaluate(focused))
        .to.match(/^ex:paper\d, http:\/\/example\.org\/paper/)
        .and.not.equal(before);
      const view = await page.getAttribute('svg.graph', 'viewBox');
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await page.locator(`svg.graph:not([viewBox="${view}"])`).waitFor();
      await ask(page, `CONSTRUCT { <${console.server.root}> <urn:x:is> "here" } {}`);
      await page.click(`a.node[aria-label$=", ${console.server.root}"] circle`);
      await page.waitForURL(`**/app#/browse?at=${encodeURIComponent(console.server.root)}`);
      await page.goBack();
    });

    it('shows hostile terms as text, never as markup or as links of other schemes', async () => {
      const schemes = [
        'javascript:alert(1)',
        'JavaScript:alert(1)',
        'data:text/html,x',
        'vbscript:x',
        'file:///etc/passwd',
      ];
      const markup = [
        '<img src=x onerror=alert(1)>',
        '</td><script>alert(1)</script>',
        '<a href="javascript:alert(1)">x</a>',
      ];
      const terms = [...schemes.map((each) => `<${each}>`), ...markup.map((each) => JSON.stringify(each))].join(' ');
      await ask(page, `SELECT ?x ?n { VALUES ?x { <https://example.org/> ${terms} } BIND(1 AS ?n) }`);
      await showAs(page, 'Table');
      const shown = page.locator('.answer td:first-child');
      expect(await shown.allInnerTexts()).to.deep.equal(['https://example.org/', ...schemes, ...markup]);
      expect(await shown.locator('a').allInnerTexts()).to.deep.equal(['https://example.org/']);
      expect(await shown.locator('a').getAttribute('rel')).to.equal('noreferrer');
      await showAs(page, 'Chart');
      await page.locator('.chart .u-over').waitFor();
      // Points at the seventh of nine bars, which are below each other.
      const { x, y, height } = (await page.evaluate(placeOfChart)) as { x: number; y: number; height: number };
      await page.mouse.move(x + 20, y + (height * 6.6) / 9.2);
      await page.locator('.chart .u-legend', { hasText: '<img src=x' }).waitFor();
      await ask(
        page,
        `CONSTRUCT { ?x <javascript:p> ?y } { VALUES ?x { <urn:a> <javascript:s> } VALUES ?y { ${terms} } }`,
      );
      for (const view of ['Graph', 'Raw', 'Table']) {
        await showAs(page, view);
        await page.locator('#answer-panel', { hasText: 'alert(1)' }).waitFor();
        expect(await page.locator('#answer-panel a').count(), view).to.equal(0);
      }
      expect(await page.locator('main img, main script').count()).to.equal(0);
      expect(dialogs).to.deep.equal([]);
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
