/** Console: the view that a query result opens with, and the map, in a browser. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import component from '../../components/console/index.js';
import { ask, expectAccessible, queryText, run, showAs } from '../support/asking.js';
import { Console, describeInBrowser } from '../support/browser.js';
import { until } from '../support/until.js';

const geo = 'PREFIX geo: <http://www.opengis.net/ont/geosparql#>';
const cities = `SELECT ?city ?lat ?long { VALUES (?city ?lat ?long) {
  ("Vienna" 48.2 16.37) ("Linz" "48.3" 14.29) ("Sydney, New South Wales" -33.86 151.2) ("Nowhere" 99 200) ("<b>Pole</b>" 90 0) } }`;
const shapes = `${geo} SELECT ?what ?where { VALUES (?what ?where) {
  (<urn:point> "POINT(16.31 48.2)"^^geo:wktLiteral) (<urn:line> "LINESTRING(16.3 48.21, 16.36 48.22)"^^geo:wktLiteral)
  (<urn:area> "POLYGON((16.32 48.20, 16.34 48.20, 16.34 48.215, 16.32 48.20))"^^geo:wktLiteral)
  (<urn:wrong> "POINT(x"^^geo:wktLiteral) (<urn:mixed> 4) } }`;
const numbers = Array.from({ length: 100 }, (_, index) => index).join(' ');
const many = `SELECT ?n ?lat ?long { VALUES ?a { ${numbers} } VALUES ?b { ${numbers} }
  BIND(?a * 100 + ?b AS ?n) BIND(?a * 1.7 - 85 AS ?lat) BIND(?b * 3.6 - 180 AS ?long) }`;

const colours = async (page: Page): Promise<string[]> =>
  (await page.locator('.legend li').allInnerTexts()).map((each) => each.trim());

/** Title of the open view of the result. */
const opened = (page: Page): Promise<string> => page.locator('ask-results [role=tab][aria-selected=true]').innerText();

/** Moves two fingers over the middle of the graph until they are twice as far apart. */
const pinch = (page: Page): Promise<unknown> =>
  page.evaluate(`{
    const picture = document.querySelector('svg.graph');
    const { left, top, width, height } = picture.getBoundingClientRect();
    const send = (type, pointerId, by) => picture.dispatchEvent(new PointerEvent(type,
      { pointerId, clientX: left + width / 2 + by, clientY: top + height / 2, pointerType: 'touch', bubbles: true }));
    for (const by of [-30, 30]) send('pointerdown', 100 + by, by);
    for (const by of [-30, 30]) send('pointermove', 100 + by, 2 * by);
    for (const by of [-30, 30]) send('pointerup', 100 + by, 2 * by);
  }`);

describeInBrowser('The console, views of results', () => {
  const console = new Console();
  let page: Page;
  before(async () => {
    await console.start({ path: '' });
    page = await console.owner();
    await console.go(page, 'ask');
    await page.locator(queryText).waitFor();
  });
  after(() => console.stop());

  it('opens a result with the chart, graph or map that fits, otherwise with the table', async () => {
    const numbered = 'SELECT ?who ?n { VALUES (?who ?n) { ("a" 1) ("b" 2) } }';
    const triples = 'CONSTRUCT { ?s <urn:p> ?n } { VALUES ?s { <urn:a> <urn:b> } VALUES ?n {';
    for (const [query, view] of [
      [numbered, 'Chart'],
      [numbered.replace('"b"', '"a"'), 'Table'],
      [numbered.replace('("b" 2)', ''), 'Table'],
      ['SELECT ?a ?b ?n { VALUES (?a ?b ?n) { ("a" "b" 1) ("b" "c" 2) } }', 'Table'],
      ['SELECT ?s { VALUES ?s { 1 2 } }', 'Table'],
      [`${triples} 1 } }`, 'Graph'],
      [`${triples} ${numbers} } }`, 'Table'],
      [cities, 'Map'],
      ['ASK {}', 'Table'],
    ] as const) {
      await ask(page, query);
      expect(await opened(page), query).to.equal(view);
    }
  });

  it('shows triple terms of results in the table', async () => {
    const term = '<<( <urn:a> <urn:p> <<( <urn:b> <urn:p> "x"@ar--rtl )>> )>>';
    await ask(page, `SELECT ?t { BIND(${term} AS ?t) }`);
    expect(await page.locator('.cm-lintRange-error').count()).to.equal(0);
    const text = await page.locator('ask-results td').first().innerText();
    expect(text.replace(/\s+/g, ' ').trim()).to.equal('<<( urn:a urn:p <<( urn:b urn:p x @ar--rtl )>> )>>');
    await ask(page, `CONSTRUCT { <urn:r> <urn:of> ${term} } {}`);
    await showAs(page, 'Table');
    expect(await page.locator('ask-results td').last().innerText()).to.include('<<(');
  });

  it('keeps the view that the user chooses while the query is edited', async () => {
    await ask(page, 'SELECT ?who ?n { VALUES (?who ?n) { ("a" 1) ("b" 2) } }');
    await page.locator('.chart canvas').waitFor();
    await showAs(page, 'Raw');
    await page.click(queryText);
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText(' # edited');
    await run(page);
    expect(await opened(page)).to.equal('Raw');
    await ask(page, 'SELECT ?who ?n { VALUES (?who ?n) { ("a" 1) ("b" 3) } }');
    expect(await opened(page)).to.equal('Chart');
    await page.getByRole('tablist', { name: 'Queries' }).getByRole('tab').nth(-2).click();
    expect(await opened(page)).to.equal('Raw');
  });

  it('draws a measure without counts, and counts on request', async () => {
    await ask(page, 'SELECT ?who ?n ?mean { VALUES (?who ?n ?mean) { ("a" 12 8.5) ("b" 13 9.25) } }');
    await page.locator('.chart canvas').waitFor();
    const drawn = (name: string): Promise<boolean> => page.getByRole('checkbox', { name, exact: true }).isChecked();
    expect([await drawn('n'), await drawn('mean')]).to.deep.equal([false, true]);
    await page.getByRole('checkbox', { name: 'n', exact: true }).check();
    await page.locator('label:has-text("n") .dot.type-1').waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByRole('button', { name: 'Image', exact: true }).click();
    expect((await saving).suggestedFilename()).to.equal('chart.png');
    await ask(page, 'SELECT ?who ?n { VALUES (?who ?n) { ("a" 12) ("b" 13) } }');
    await page.locator('.chart canvas').waitFor();
    expect(await page.locator('ask-chart').getByRole('checkbox').count(), 'one column needs no choice').to.equal(0);
    await ask(page, 'SELECT ?who ?n ?m { VALUES (?who ?n ?m) { ("a" 12 8) ("b" 13 100) } }');
    await page.locator('.chart canvas').waitFor();
    expect([await drawn('n'), await drawn('m')]).to.deep.equal([true, true]);
  });

  it('names nodes of a graph by prefix', async () => {
    await ask(page, 'PREFIX my: <urn:my:> CONSTRUCT { my:one my:knows my:two } {}');
    await page.locator('svg.graph text', { hasText: 'my:one' }).waitFor();
    expect(await page.locator('svg.graph .link-name text').allTextContents(), 'links have no prefix').to.deep.equal([
      'knows',
    ]);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await page.getByRole('button', { name: 'Turtle', exact: true }).click();
    expect((await saving).suggestedFilename()).to.equal('answer.ttl');
    expect(await colours(page), 'one kind needs no legend').to.deep.equal([]);
  });

  it('draws types as colours with a legend instead of as links', async () => {
    await ask(
      page,
      'CONSTRUCT { <urn:a> a <http://xmlns.com/foaf/0.1/Person> ; <urn:p> <urn:b> . <urn:b> a <urn:T:Two> ; <urn:p> <urn:c> } {}',
    );
    await page.getByText('3 nodes, 2 links: all 4 triples.').waitFor();
    expect(await colours(page)).to.deep.equal(['Person', 'Two', 'Other']);
    expect(await page.locator('svg.graph .type-1, svg.graph .type-2').count()).to.equal(2);
    await ask(page, 'CONSTRUCT { <urn:a> a <urn:T:One> } {}');
    await page.getByText('2 nodes, 1 link: all 1 triple.').waitFor();
  });

  it('labels a link and its reverse once', async () => {
    await ask(page, 'CONSTRUCT { <urn:a> <urn:p:knows> <urn:b> . <urn:b> <urn:p:knows> <urn:a> } {}');
    await page.getByText('2 nodes, 2 links: all 2 triples.').waitFor();
    expect(await page.locator('svg.graph .link-name text').allTextContents()).to.deep.equal(['knows']);
    const line = page.locator('svg.graph .link line');
    expect([await line.count(), await line.getAttribute('marker-start')]).to.deep.equal([1, 'url(#graph-arrow)']);
    expect(await page.getByText('Point at a link').count()).to.equal(0);
  });

  it('shows the label of a link without a place for it when it is pointed at', async () => {
    const ring = Array.from({ length: 20 }, (_, at) => `<urn:n${at}> <urn:next:after> <urn:n${(at + 1) % 20}> .`).join(
      ' ',
    );
    await ask(page, `CONSTRUCT { ${ring} } {}`);
    await page.getByText('Point at a link to read its label.').waitFor();
    expect(await page.locator('svg.graph .link-name text').count()).to.equal(0);
    await page.locator('svg.graph .link').first().dispatchEvent('pointerenter');
    expect(await page.locator('svg.graph .link-name text').allTextContents()).to.deep.equal(['after']);
  });

  it('draws places over the coasts, tells how many are wrong, and selects places by keyboard and pointer', async () => {
    await ask(page, cities);
    const map = page.locator('svg.map');
    expect(await colours(page)).to.not.include('selected place');
    await page.locator('ask-map .summary', { hasText: '4 places of 5 rows. 1 value without a place' }).waitFor();
    expect((await map.locator('.land').getAttribute('d'))!.length).to.be.above(20_000);
    expect((await map.locator('.points:not(.halo)').getAttribute('d'))!.match(/M/g)).to.have.length(4);
    expect(await page.locator('ask-map td:first-child').allInnerTexts()).to.include('Nowhere');
    await map.locator('.names text[text-anchor="end"]', { hasText: 'Sydney' }).waitFor({ state: 'attached' });
    expect(await page.locator('ask-map th.number').allInnerTexts()).to.deep.equal(['long']);
    const place = page.locator('ask-map .place');
    await map.focus();
    for (const [key, name] of [
      ['n', 'Vienna'],
      ['n', 'Linz'],
      ['p', 'Vienna'],
      ['p', '<b>Pole</b>'],
    ] as const) {
      await page.keyboard.press(key);
      await place.filter({ hasText: name }).waitFor();
    }
    for (const key of ['+', 'ArrowLeft', 'ArrowDown', '-']) {
      const view = await map.getAttribute('viewBox');
      await page.keyboard.press(key);
      await page.locator(`svg.map:not([viewBox="${view}"])`).waitFor();
    }
    await expectAccessible(page);
    await ask(page, shapes);
    await page.locator('ask-map .summary', { hasText: '3 places of 5 rows. 2 values without a place' }).waitFor();
    await map.scrollIntoViewIfNeeded();
    const area = (await map.locator('.areas').boundingBox())!;
    await page.mouse.click(area.x + area.width * 0.8, area.y + area.height * 0.6);
    await place.filter({ hasText: 'urn:area' }).waitFor();
    await page.mouse.click(area.x, area.y);
    await place.filter({ hasText: 'Select a place' }).waitFor();
    await page.getByRole('button', { name: 'Next place' }).click();
    await place.filter({ hasText: 'urn:point' }).waitFor();
  });

  it('places no name below the buttons on a phone', async () => {
    const size = page.viewportSize()!;
    await page.setViewportSize({ width: 360, height: 740 });
    await ask(
      page,
      'SELECT ?a ?lat ?long { VALUES (?a ?lat ?long) { ("Rhine" 47.56 7.6) ("Aare" 46.94 7.45) ("Geneva" 46.2 6.14) } }',
    );
    const names = page.locator('svg.map .names text');
    await names.filter({ hasText: 'Rhine' }).waitFor();
    expect(await names.count()).to.equal(3);
    const buttons = await page
      .locator('ask-map .zoom')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect()));
    const texts = await names.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()));
    for (const one of texts)
      for (const other of buttons)
        expect(
          one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom,
        ).to.equal(false);
    await page.setViewportSize(size);
  });

  it('has a scale bar of the right length, a grid with degrees, and names of countries and cities', async () => {
    const meridian = 'SELECT ?city ?lat ?long { VALUES (?city ?lat ?long) { ("North" 52 10) ("South" 42 10) } }';
    await ask(page, meridian);
    const map = page.locator('svg.map');
    await map.locator('.countries text', { hasText: 'Germany' }).waitFor();
    await map.locator('.cities text', { hasText: 'Milan' }).waitFor();
    const named = await map
      .locator(':is(.countries, .cities) text')
      .evaluateAll((texts) =>
        texts
          .map((text) => text.getBoundingClientRect())
          .map(({ left, right, top, bottom }) => [left, right, top, bottom] as const),
      );
    for (const [at, one] of named.entries())
      for (const other of named.slice(0, at))
        expect(
          one[0] < other[1] && other[0] < one[1] && one[2] < other[3] && other[2] < one[3],
          `${one} ${other}`,
        ).to.equal(false);
    await map.locator('.borders').waitFor({ state: 'attached' });
    expect(await map.locator('.grid text', { hasText: '10° E' }).count()).to.equal(1);
    expect(await map.locator('.grid text', { hasText: '50° N' }).count()).to.equal(1);
    const path = (await map.locator('.points').last().getAttribute('d'))!;
    const [north, south] = [...path.matchAll(/M\S+ (\S+?)h0/g)].map(([, y]) => Number(y));
    const bar = Number(/h([\d.e-]+)v/.exec((await map.locator('.scale path').getAttribute('d'))!)![1]);
    const kilometres = Number((await map.locator('.scale text').innerHTML()).replace(/<!--.*?-->|,| km/g, ''));
    // A degree of latitude has 111.2 km.
    expect(((south! - north!) / bar) * kilometres).to.be.closeTo(1112, 12);
    await page.getByRole('button', { name: 'Zoom in' }).click({ clickCount: 12 });
    const nearer = Number(/h([\d.e-]+)v/.exec((await map.locator('.scale path').getAttribute('d'))!)![1]);
    expect(nearer).to.be.below(bar);
    await expectAccessible(page);
  });

  it('draws graphs of 100 nodes without labels over labels', async () => {
    const pairs = Array.from({ length: 50 }, (_, at) => `(${at} ${Math.floor(at / 4)})`).join(' ');
    await ask(
      page,
      `CONSTRUCT { ?a <urn:has-a-predicate> ?b . ?a <urn:label> ?text } { VALUES (?n ?m) { ${pairs} }
        BIND(IRI(CONCAT("urn:a-resource-", STR(?n))) AS ?a) BIND(IRI(CONCAT("urn:a-resource-", STR(?m))) AS ?b)
        BIND(CONCAT("a long name of number ", STR(?n)) AS ?text) }`,
    );
    await showAs(page, 'Graph');
    await page
      .getByText(/100 nodes, 100 links: all 100 triples\.\s+\d+ names left out, for lack of room: zoom in/)
      .waitFor();
    const boxes = (await page
      .locator('svg.graph text')
      .evaluateAll((texts) => texts.map((each) => each.getBoundingClientRect().toJSON()))) as Readonly<
      Record<'left' | 'right' | 'top' | 'bottom' | 'height', number>
    >[];
    expect(boxes.length).to.be.within(30, 100);
    const over = boxes.flatMap((one, at) =>
      boxes.slice(at + 1).filter(
        (other) =>
          Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
          // Letters are lower than their line.
          Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > one.height / 3,
      ),
    );
    expect(over.length).to.equal(0);
    expect(await colours(page)).to.deep.equal(['thing with an address', 'value']);
    const box = (selector: string) =>
      page.locator(selector).evaluateAll((all) => {
        const boxes = all.map((each) => each.getBoundingClientRect());
        return [
          Math.min(...boxes.map(({ left }) => left)),
          Math.min(...boxes.map(({ top }) => top)),
          Math.max(...boxes.map(({ right }) => right)),
          Math.max(...boxes.map(({ bottom }) => bottom)),
        ] as const;
      });
    await page.setViewportSize({ width: 360, height: 740 });
    await showAs(page, 'Table');
    await showAs(page, 'Graph');
    await page.getByText('100 nodes').waitFor();
    const scale = async (): Promise<number> =>
      (await page.evaluate("document.querySelector('svg.graph').getScreenCTM().a")) as number;
    const heights = (await page
      .locator('svg.graph a.node text, svg.graph g.node text')
      .evaluateAll((texts) => texts.map((each) => each.getBoundingClientRect().height))) as number[];
    expect(Math.min(...heights), 'height of names in pixels').to.be.at.least(11);
    const [picture, circles] = [await box('svg.graph'), await box('svg.graph circle')];
    expect(
      circles[0] > picture[0] && circles[1] > picture[1] && circles[2] < picture[2] && circles[3] < picture[3],
      `${circles} in ${picture}`,
    ).to.equal(true);
    const before = await scale();
    await pinch(page);
    await until(async () => Math.abs((await scale()) / before - 2) < 0.1, 'two fingers zoom');
    expect(await page.locator('svg.graph text').count(), 'more room for names').to.be.above(heights.length);
    await page.getByRole('button', { name: 'Show all' }).click();
    await until(async () => Math.abs((await scale()) / before - 1) < 0.1, 'all nodes are shown');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('shows 10 000 places, and the table beside the map', async () => {
    expect(await ask(page, many)).to.match(/^10,000 rows in /);
    await page.locator('ask-map .summary', { hasText: '10,000 places. 10,000 names left out' }).waitFor();
    expect(await page.locator('svg.map > *').count()).to.be.below(10);
    expect(await page.locator('ask-map tbody tr').count()).to.be.below(100);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
    await expectAccessible(page);
  });

  it('tells that no value of a result can be drawn', async () => {
    await ask(
      page,
      `${geo} SELECT ?where { VALUES ?where { "POINT(1"^^geo:wktLiteral "POINT(200 0)"^^geo:wktLiteral } }`,
    );
    await page.locator('ask-map .summary', { hasText: '0 places of 2 rows. 2 values without a place' }).waitFor();
    expect(await page.locator('svg.map').count()).to.equal(0);
    expect(await page.locator('ask-map tbody tr').count()).to.equal(2);
  });

  it('causes no script error or CSP violation and contacts no other origin', () => {
    expect(console.complaints).to.deep.equal([]);
    expect([...console.elsewhere]).to.deep.equal([]);
  });
});

describeInBrowser('The console, maps with tiles of the operator (lws.console.map-tiles)', () => {
  const console = new Console();
  const fetched: string[] = [];
  /** A pixel in PNG. */
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const tiles = createServer((req, res) => {
    fetched.push(req.url!);
    res.setHeader('Content-Type', 'image/png').end(pixel);
  });
  let page: Page;
  let origin = '';
  before(async () => {
    await once(tiles.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(tiles.address() as AddressInfo).port}`;
    const settings = { 'console.map-tiles': `${origin}/{z}/{x}/{y}.png`, 'console.map-attribution': '© Somebody' };
    await console.start({ settings });
    page = await console.owner();
    await console.go(page, 'ask');
    await page.locator(queryText).waitFor();
  });
  after(async () => {
    await console.stop();
    tiles.close();
  });

  it('shows them where they belong, with their attribution, and contacts no other origin', async () => {
    await ask(page, 'SELECT ?city ?lat ?long { VALUES (?city ?lat ?long) { ("Brandenburg Gate" 52.5163 13.3777) } }');
    const map = page.locator('svg.map');
    await map.locator('image').first().waitFor({ state: 'attached' });
    await page.getByText('© Somebody').waitFor();
    await until(() => fetched.length > 0);
    const zoom = Number(fetched[0]!.split('/')[1]);
    // By the formula of OpenStreetMap.
    const radians = (52.5163 * Math.PI) / 180;
    const column = Math.floor(((13.3777 + 180) / 360) * 2 ** zoom);
    const row = Math.floor(((1 - Math.log(Math.tan(radians) + 1 / Math.cos(radians)) / Math.PI) / 2) * 2 ** zoom);
    const tile = `/${zoom}/${column}/${row}.png`;
    expect(fetched).to.include(tile);
    expect(new Set(fetched).size).to.be.within(4, 40);
    const around = (await map.locator(`image[href="${origin}${tile}"]`).boundingBox())!;
    const point = (await map.locator('.points').last().boundingBox())!;
    const [x, y] = [point.x + point.width / 2, point.y + point.height / 2];
    expect(x).to.be.within(around.x, around.x + around.width);
    expect(y).to.be.within(around.y, around.y + around.height);
    expect(await map.locator('.land, .borders').count()).to.equal(0);
    await page.getByRole('button', { name: 'Zoom in' }).click({ clickCount: 12 });
    await until(() => fetched.some((path) => Number(path.split('/')[1]) > zoom));
    expect([...console.elsewhere]).to.deep.equal([origin]);
    expect(console.complaints).to.deep.equal([]);
    await expectAccessible(page);
  });

  it('rejects URLs without the numbers of a tile, or of another scheme, and attributions with markup', () => {
    const { mapTiles, mapAttribution } = component.settings;
    for (const wrong of [
      'https://tiles.example/',
      'javascript:{z}{x}{y}',
      'https://a.example:99999/{z}/{x}/{y}.png',
      'https://a.example/{z}/{x}/{y}"><b>',
      'data:{z}{x}{y}',
      '//a.example/{z}{x}{y}',
    ])
      expect(mapTiles.parser.parse(wrong), wrong).to.equal(undefined);
    for (const wrong of ['<b>', 'a"b', 'x'.repeat(201)])
      expect(mapAttribution.parser.parse(wrong), wrong).to.equal(undefined);
  });
});
