/** The console: asking in SPARQL, in a browser (service.md, "SPARQL"). */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';

const queries = '[role=tablist][aria-label=Queries] [role=tab]';
const said = '#query-panel > .row > [role=status]';
const text = '.cm-content';
/** Eight thousand rows that need no data. */
const numbers = Array.from({ length: 20 }, (_, index) => index).join(' ');
const many = `SELECT * { VALUES ?a { ${numbers} } VALUES ?b { ${numbers} } VALUES ?c { ${numbers} } }`;

async function write(page: Page, query: string): Promise<void> {
  await page.click('text=New query');
  await page.click(text);
  await page.keyboard.insertText(query);
}

/** Runs the query of the open tab. @returns what is said of the outcome */
async function run(page: Page): Promise<string> {
  await page.click('button:text-is("Run")');
  const outcome = page.locator(said, { hasText: /row|triple|Answered|Refused/ });
  await outcome.waitFor();
  return (await outcome.textContent())!;
}

async function ask(page: Page, query: string): Promise<string> {
  await write(page, query);
  return run(page);
}

async function example(page: Page, name: string): Promise<string> {
  await page.click('summary >> text=Examples');
  await page.click(`.examples button:has-text("${name}")`);
  return run(page);
}

const showAs = (page: Page, view: string): Promise<void> => page.click(`[role=tab]:text-is("${view}")`);

async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFindings(page), colorScheme).to.deep.equal([]);
  }
}

for (const path of ['', '/some/path'])
  describeInBrowser(`The console, asking, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    const dialogs: string[] = [];
    before(async () => {
      await console.start({ path });
      page = await console.owner({ permissions: ['clipboard-read', 'clipboard-write'] });
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await console.go(page, 'ask');
      await page.locator(text).waitFor();
    });
    after(() => console.stop());

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });

    it('runs each of its examples on a storage with nothing in it', async () => {
      await page.click('summary >> text=Examples');
      const names = (await page.locator('.examples button').allInnerTexts()).map((each) => each.split('\n')[0]!.trim());
      await expectAccessible(page);
      await page.click('summary >> text=Examples');
      expect(names).to.include.members(['Everything', 'A picture', 'A chart']);
      for (const name of names) {
        expect(await example(page, name), name).to.match(/^[\d,]+ (?:row|triple)s? in /);
        await page.locator('#answer-panel table, #answer-panel .empty').waitFor();
      }
      expect(await page.locator(queries).count()).to.equal(names.length + 1);
    });

    it('completes the classes and predicates that the storage uses, and declares their prefix', async () => {
      await send('PUT', 'data/', asContainer);
      await send(
        'PUT',
        'data/one',
        { 'Content-Type': 'text/turtle' },
        `@prefix schema: <http://schema.org/> .
        <> a schema:Dataset, <http://example.org/vocab/Uncommon> ; schema:name "One" ; <http://example.org/vocab/weighs> 4 .`,
      );
      await page.reload();
      await page.locator(text).waitFor();
      await page.click('text=New query');
      // Names are asked for before they are needed.
      const asked = ['type-index', 'sparql'].map((name) => page.waitForResponse((each) => each.url().includes(name)));
      await page.click(text);
      await Promise.all(asked);
      const choose = async (typed: string, option: string): Promise<void> => {
        await page.keyboard.insertText(typed);
        await page.keyboard.press('Control+Space');
        await page.click(`.cm-tooltip-autocomplete li:has-text("${option}")`);
      };
      await choose('SELECT * { ?x a ', 'http://schema.org/Dataset');
      await choose(' ; ', 'http://schema.org/name');
      await choose(' ?name ; <http', 'vocab/weighs');
      await page.keyboard.insertText(' ?weight }');
      expect((await page.locator('.cm-line').allInnerTexts()).join('\n')).to.equal(
        'PREFIX schema: <http://schema.org/>\nSELECT * { ?x a schema:Dataset ; schema:name ?name ; <http://example.org/vocab/weighs> ?weight }',
      );
      expect(await run(page)).to.match(/^1 row in /);
    });

    it('says what is wrong with a query in the words of the server', async () => {
      const wrong = 'SELEC ?x { ?x ?y }';
      const answer = await send('POST', '.lws/sparql', { 'Content-Type': 'application/sparql-query' }, wrong);
      expect(answer.status).to.equal(400);
      expect(await ask(page, wrong)).to.match(/^Refused/);
      expect(await page.locator('.problem').innerText()).to.equal(JSON.parse(answer.text).detail);
      await page.locator('.cm-lint-marker-error').waitFor();
      await expectAccessible(page);
    });

    it('ends a query that takes long, and asks the next one', async () => {
      const long = `SELECT (COUNT(*) AS ?n) { ${[1, 2, 3, 4, 5, 6].map((i) => `VALUES ?v${i} { ${numbers} ${i}00 }`).join(' ')} }`;
      await write(page, long);
      await page.keyboard.press('Control+Enter');
      await page.locator('text=Running for').waitFor();
      await page.click('button:text-is("End")');
      await page.locator(said, { hasText: /^Ended after/ }).waitFor();
      expect(await ask(page, 'ASK {}')).to.match(/^Answered/);
      expect(await page.locator('.yes-no').innerText()).to.match(/^Yes/);
    });

    it('was never against its policy, and asked nobody else', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
