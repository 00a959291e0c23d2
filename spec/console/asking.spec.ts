/** Console: SPARQL queries in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ask, choose, example, expectAccessible, queries, queryText, run, said, write } from '../support/asking.js';
import { Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { pathsOf } from '../support/places.js';
import { until } from '../support/until.js';

/** What an example opens with, if it is not the table. */
const opening: Readonly<Record<string, string>> = {
  'Example of a graph': '#answer-panel svg.graph',
  'Example of a chart': '#answer-panel .chart canvas',
};
/** True if the first element is above the second one. */
async function isAbove(page: Page, first: string, second: string): Promise<boolean> {
  const [upper, lower] = await Promise.all([first, second].map((each) => page.locator(each).first().boundingBox()));
  return upper!.y < lower!.y;
}
const numbers = Array.from({ length: 20 }, (_, index) => index).join(' ');

for (const path of pathsOf('The console, queries'))
  describeInBrowser(`The console, queries, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner({ permissions: ['clipboard-read', 'clipboard-write'] });
      await console.go(page, 'ask');
      await page.locator(queryText).waitFor();
    });
    after(() => console.stop());

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });

    it('shows the examples at first, and runs each on an empty storage', async () => {
      await page.locator('details.examples[open] button').first().waitFor();
      expect(await page.locator(queries).count(), 'one query needs no tabs').to.equal(0);
      expect(await isAbove(page, '.examples', 'quad-editor')).to.equal(true);
      const names = (await page.locator('.examples button:not(.more)').allInnerTexts()).map((each) =>
        each.split('\n')[0]!.trim(),
      );
      await expectAccessible(page);
      expect(names).to.include.members(['What is in here?', 'Example of a graph', 'Example of a chart']);
      for (const name of names) {
        expect(await example(page, name), name).to.match(/^[\d,]+ (?:row|triple)s? in /);
        await page.locator(opening[name] ?? '#answer-panel table, #answer-panel .empty').waitFor();
        expect(await page.locator('details.examples[open]').count(), 'the result is right below').to.equal(0);
      }
      expect(await page.locator(queries).count()).to.equal(names.length);
      await choose(page, 'New query');
      await page.locator('details.examples[open]').waitFor();
      await page.click(queryText);
      await page.keyboard.insertText('ASK {}');
      await page.locator('details.examples:not([open])').waitFor();
      expect(await isAbove(page, 'quad-editor', '.examples')).to.equal(true);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('Delete');
      expect(await page.locator('details.examples[open]').count(), 'nothing moves again').to.equal(0);
      await page.keyboard.insertText('ASK {}');
      expect(await run(page)).to.match(/^Answered/);
      await page.locator('details.examples:not([open])').waitFor();
    });

    it('asks about people and places if the storage has them', async () => {
      const shown = page.locator('.examples button');
      expect(await shown.filter({ hasText: /Who is|Where are/ }).count()).to.equal(0);
      const geo = 'http://www.w3.org/2003/01/geo/wgs84_pos#';
      await send(
        'PUT',
        'known.ttl',
        { 'Content-Type': 'text/turtle' },
        `<#ada> a <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> "Ada" .
        <#bern> <${geo}lat> 46.94 ; <${geo}long> 7.45 . <#basel> <${geo}lat> 47.56 ; <${geo}long> 7.6 .`,
      );
      await page.reload();
      await choose(page, 'New query');
      await shown.filter({ hasText: 'Who is described here?' }).waitFor();
      expect(await example(page, 'Who is described here?')).to.match(/^1 row in /);
      expect(await page.locator('#answer-panel td').allInnerTexts()).to.include('Ada');
      expect(await example(page, 'Where are the places?')).to.match(/^2 rows in /);
      await page.locator('#answer-panel svg.map').waitFor();
      expect(await isAbove(page, '.ask-editor', '.shelves')).to.equal(true);
      await page.setViewportSize({ width: 360, height: 740 });
      const hidden =
        "{ const { scrollWidth, clientWidth } = document.querySelector('ask-map .answer'); scrollWidth - clientWidth }";
      expect(await page.evaluate(hidden), 'three columns fit a phone').to.equal(0);
      await page.setViewportSize({ width: 1280, height: 800 });
      await send('DELETE', 'known.ttl', { 'If-Match': (await send('HEAD', 'known.ttl')).headers['etag']! });
    });

    it('gives more time to the first query for names, and to one after a query that failed', async () => {
      await send('PUT', 'named.ttl', { 'Content-Type': 'text/turtle' }, '<#it> a <http://xmlns.com/foaf/0.1/Person> .');
      const other = await console.owner();
      const limits: string[] = [];
      let hasNames = false;
      // As on a slow machine, the first query reaches its limit, and so does every query of two seconds.
      const values = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `VALUES ?${name} { ${numbers} }`).join(' ');
      await other.route('**/sparql?timeout=*', (route) => {
        const url = route.request().url();
        const limit = new URL(url).searchParams.get('timeout')!;
        limits.push(limit);
        if (limits.length > 1 && limit !== '2') return route.continue();
        const postData = `SELECT (COUNT(*) AS ?n) { ${values} FILTER(?a + ?b + ?c + ?d + ?e + ?f > 1000) }`;
        return route.continue({ url: url.replace(/timeout=.*/, 'timeout=0.1'), postData });
      });
      other.on('response', (answer) => {
        hasNames ||= answer.ok() && answer.url().endsWith('timeout=20');
      });
      await console.go(other, 'ask');
      await other.waitForResponse((answer) => /timeout=/.test(answer.url()) && !answer.ok());
      await until(async () => {
        await other.locator('h1').click();
        await other.click(queryText);
        return hasNames;
      }, 'a query for names has succeeded');
      expect(limits.slice(0, 2)).to.deep.equal(['20', '2']);
      expect(limits.slice(2)).to.include('20');
      await send('DELETE', 'named.ttl', { 'If-Match': (await send('HEAD', 'named.ttl')).headers['etag']! });
      await other.context().close();
    });

    it('explains a query as a table with estimated and actual rows', async () => {
      await write(
        page,
        'PREFIX my: <urn:my:> SELECT ?n { VALUES ?n { 1 2 3 } OPTIONAL { my:none ?p "<urn:my:x>" } FILTER(?n > 1) }',
      );
      await choose(page, 'Explain');
      await page.locator(said, { hasText: /^Explained in / }).waitFor();
      expect(await page.locator('.plan th[scope=col]').allInnerTexts()).to.deep.equal([
        'Operator',
        'Estimated matches',
        'Rows',
        'Time',
      ]);
      const cells = (operator: string) => page.locator('.plan tr', { hasText: operator }).locator('td').allInnerTexts();
      expect((await cells('values ?n, 3 rows')).slice(0, 2)).to.deep.equal(['', '3']);
      expect((await cells('pattern my:none [] "<urn:my:x>"')).slice(0, 2)).to.deep.equal(['0', '0']);
      await expectAccessible(page);
      await page.click('[role=tab]:text-is("Raw")');
      expect(JSON.parse(await page.locator('pre.raw').innerText())).to.include({ form: 'select' });
      // The next result has its own views again.
      expect(await run(page)).to.match(/^2 rows in /);
    });

    it('warns of an unknown function and names it', async () => {
      await write(page, 'SELECT ?x { BIND(COALESCE(<http://e.example/f>(1), 0) AS ?x) }');
      for (const button of ['Run', 'Explain']) {
        await (button === 'Run' ? page.click('button:text-is("Run")') : choose(page, button));
        const hint = page.locator('ask-results p.problem', { hasText: '<http://e.example/f>' });
        expect(await hint.innerText()).to.match(/^Unknown function/);
      }
      await write(page, 'SELECT ?n { VALUES ?n { 1 } }');
      expect(await run(page)).to.match(/^1 row in /);
      expect(await page.locator('ask-results p.problem').count()).to.equal(0);
    });

    it('completes classes and predicates of the storage and declares their prefixes', async () => {
      await send('PUT', 'data/', asContainer);
      await send(
        'PUT',
        'data/one',
        { 'Content-Type': 'text/turtle' },
        `@prefix schema: <http://schema.org/> .
        <> a schema:Dataset, <http://example.org/vocab/Uncommon> ; schema:name "One" ; <http://example.org/vocab/weighs> 4 .`,
      );
      await page.reload();
      await page.locator(queryText).waitFor();
      await choose(page, 'New query');
      // Names are fetched when the editor gets the focus.
      const sent: string[] = [];
      page.on('request', (each) => sent.push(`${each.method()} ${each.url()}`));
      await page.click(queryText);
      const complete = async (typed: string, option: string): Promise<void> => {
        await page.keyboard.insertText(typed);
        const offered = page.locator(`.cm-tooltip-autocomplete li:has-text("${option}")`);
        const isOffered = async (): Promise<boolean> => {
          await page.keyboard.press('Escape');
          await page.keyboard.press('Control+Space');
          await page.locator('.cm-tooltip-autocomplete').waitFor();
          return (await offered.count()) > 0;
        };
        await until(isOffered, `${option} is offered`);
        await offered.click();
      };
      await complete('SELECT * { ?x a ', 'http://schema.org/Dataset');
      await complete(' ; ', 'http://schema.org/name');
      const requests = sent.length;
      await complete(' ?name ; <http', 'vocab/weighs');
      await page.keyboard.type(' ?weight }');
      expect(sent.length, sent.join(' ')).to.equal(requests);
      expect((await page.locator('.cm-line').allInnerTexts()).join('\n')).to.equal(
        'PREFIX schema: <http://schema.org/>\nSELECT * { ?x a schema:Dataset ; schema:name ?name ; <http://example.org/vocab/weighs> ?weight }',
      );
      expect(await run(page)).to.match(/^1 row in /);
    });

    it("shows the server's error message for an invalid query", async () => {
      const wrong = 'SELEC ?x { ?x ?y }';
      const answer = await send('POST', '.lws/sparql', { 'Content-Type': 'application/sparql-query' }, wrong);
      expect(answer.status).to.equal(400);
      expect(await ask(page, wrong)).to.match(/^Refused/);
      expect(await page.locator('.problem').innerText()).to.equal(JSON.parse(answer.text).detail);
      await page.locator('.cm-lint-marker-error').waitFor();
      await expectAccessible(page);
      await page.locator('.cm-content').click();
      await page.keyboard.insertText(' ');
      await page.locator('.problem').waitFor({ state: 'detached' });
    });

    it('cancels a long query and runs the next one', async () => {
      const long = `SELECT (COUNT(*) AS ?n) { ${[1, 2, 3, 4, 5, 6].map((i) => `VALUES ?v${i} { ${numbers} }`).join(' ')} }`;
      await write(page, long);
      await page.keyboard.press('Control+Enter');
      await page.locator('text=Running for').waitFor();
      const givenUp = page.waitForEvent('requestfailed', (each) => each.postData() === long);
      await page.click('button:text-is("End")');
      await givenUp;
      await page.locator(said, { hasText: /^Ended after/ }).waitFor();
      expect(await ask(page, 'ASK {}')).to.match(/^Answered/);
      expect(await page.locator('.yes-no').innerText()).to.match(/^Yes/);
    });

    it('restores tabs after a reload, renames them and reopens a closed one', async () => {
      await write(page, 'ASK { <urn:kept> ?p ?o }');
      await choose(page, 'Rename');
      await page.fill('input[name=name]', '<b>Mine</b>');
      await page.keyboard.press('Enter');
      const mine = page.locator(queries, { hasText: '<b>Mine</b>' });
      await mine.waitFor();
      await page.reload();
      await page.locator(queryText, { hasText: 'urn:kept' }).waitFor();
      expect(await mine.getAttribute('aria-selected')).to.equal('true');
      const count = await page.locator(queries).count();
      await choose(page, 'Close');
      await page.locator('text=“<b>Mine</b>” is closed').waitFor();
      expect(await page.locator(queries).count()).to.equal(count - 1);
      expect(await mine.count()).to.equal(0);
      await page.click('text=Undo');
      await page.locator(queryText, { hasText: 'urn:kept' }).waitFor();
      expect(await page.locator(queries).last().innerText()).to.equal('<b>Mine</b>');
      await mine.press('ArrowLeft');
      await page.locator(`${queries}[aria-selected=true]:focus:not(:last-child)`).waitFor();
    });

    it('lists the queries that were run in this browser, opens them without running them, and deletes them', async () => {
      const user = await console.owner();
      const sent: string[] = [];
      user.on('request', (each) => sent.push(`${each.url()} ${each.postData()}`));
      await console.go(user, 'ask');
      await user.locator(queryText).waitFor();
      for (const query of ['ASK { <urn:first> ?p ?o }', 'SELEC', 'ASK { <urn:first> ?p ?o }', 'SELECT (1 AS ?n) {}'])
        await ask(user, query);
      await user.reload();
      await user.locator(queryText).waitFor();
      sent.length = 0;
      await user.click('summary:text-is("History")');
      const items = user.locator('ask-history li');
      const texts = (await items.allInnerTexts()).map((each) => each.replace(/\s+/g, ' '));
      expect(texts.length).to.equal(3);
      expect(texts[0]).to.match(/^SELECT \(1 AS \?n\) \{\} .*, 1 row in /);
      expect(texts[1]).to.match(/^ASK \{ <urn:first> \?p \?o \} .*, Answered in /);
      expect(texts[2]).to.match(/^SELEC .*, Refused after /);
      await expectAccessible(user);
      await items.nth(1).locator('button').first().click();
      await user.locator(queryText, { hasText: 'urn:first' }).waitFor();
      await user.locator('quad-editor:focus').waitFor();
      expect(await user.locator(said).innerText()).to.match(/runs it/);
      expect(sent.filter((each) => each.includes('first'))).to.deep.equal([]);
      await user.click('summary:text-is("History")');
      await items.last().getByRole('button', { name: 'Delete from the history' }).click();
      await items.nth(2).waitFor({ state: 'detached' });
      await user.click('ask-history >> text=Delete history');
      await user.click('dialog button:text-is("Delete history")');
      await user.locator('ask-history >> text=No queries yet').waitFor();
      await ask(user, 'ASK {}');
      await items.first().waitFor();
      const kept = 'Object.keys(localStorage).filter((key) => key.includes("history")).length';
      expect(await user.evaluate(kept)).to.equal(1);
      await user.click('text=Sign out');
      await until(async () => (await user.evaluate(kept)) === 0, 'the history is deleted');
    });

    it('opens a query from a link without running it', async () => {
      const query = 'SELECT ("a + b & c# %41" AS ?shared) {}';
      await write(page, query);
      await choose(page, 'Copy link');
      await page.locator('.notice.good').waitFor();
      const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
      expect(link).to.match(new RegExp(`^${console.server.root}app#/ask\\?query=`));
      const other = await console.person();
      const sent: (string | null)[] = [];
      other.on('request', (each) => {
        if (each.method() === 'POST') sent.push(each.postData());
      });
      await other.goto(link);
      await other.locator(queryText, { hasText: query }).waitFor();
      expect(await other.locator(said).innerText()).to.match(/runs it/);
      expect(other.url()).to.equal(console.at('ask'));
      expect(sent).to.deep.equal([]);
      expect(await run(other)).to.match(/^1 row/);
      expect(sent).to.deep.equal([query]);
    });

    it('saves a query as a resource and opens it from a link', async () => {
      const query = 'SELECT ?who { VALUES ?one { 1 } BIND(?name AS ?who) }';
      const iri = `${console.server.root}who.rq`;
      const saveAs = async (address: string): Promise<void> => {
        await page.click('button:text-is("Save") >> nth=0');
        await page.fill('ask-save-form input', address);
        await page.click('ask-save-form button:text-is("Save")');
      };
      await write(page, query);
      await page.click('button:text-is("Save") >> nth=0');
      await expectAccessible(page);
      await page.click('ask-save-form button:text-is("Cancel")');
      await saveAs(iri);
      await page.locator('.notice.good', { hasText: `${iri}?run` }).waitFor();
      const stored = await send('GET', 'who.rq');
      expect(stored.headers['link']).to.contain('SPARQLExecutable');
      expect([stored.headers['content-type'], stored.text]).to.deep.equal(['application/sparql-query', query]);
      expect(JSON.parse((await send('GET', 'who.rq?run&name=Ada')).text).results.bindings[0].who.value).to.equal('Ada');
      await page.click('summary:text-is("Saved queries")');
      const listed = page.locator('ask-stored li');
      await listed.filter({ hasText: 'who.rq' }).waitFor();
      await expectAccessible(page);
      await listed.getByRole('button').click();
      await page.locator('ask-stored details:not([open])').waitFor();
      expect(await page.locator(`${queries}[aria-selected=true]`).innerText()).to.equal('who.rq');
      await choose(page, 'Copy link');
      const link = `${console.server.root}app#/ask?from=${encodeURIComponent(iri)}`;
      const copied = async (): Promise<boolean> => (await page.evaluate('navigator.clipboard.readText()')) === link;
      await until(copied, 'the link is copied');
      const other = await console.owner();
      const sent: string[] = [];
      other.on('request', (each) => sent.push(`${each.method()} ${each.url()}`));
      await other.goto(link);
      await other.locator(queryText, { hasText: 'VALUES' }).waitFor();
      expect(sent.filter((each) => each.includes('sparql') && each.startsWith('POST'))).to.deep.equal([]);
      expect(await other.locator('[role=tab][aria-selected=true]').first().innerText()).to.equal('who.rq');
      // Change by another user.
      await send('PUT', 'who.rq', { 'Content-Type': 'application/sparql-query', 'If-Match': '*' }, 'ASK {}');
      await other.click(queryText);
      await other.keyboard.insertText('# mine ');
      await other.click('button:text-is("Save") >> nth=0');
      await other.click('ask-save-form button:text-is("Save")');
      await other.click('dialog button:text-is("Cancel")');
      expect((await send('GET', 'who.rq')).text).to.equal('ASK {}');
      await other.click('ask-save-form button:text-is("Save")');
      await other.click('dialog button:text-is("Replace")');
      await other.locator('.notice.good', { hasText: 'saved' }).waitFor();
      expect((await send('GET', 'who.rq')).text)
        .to.contain('# mine')
        .and.to.contain('VALUES');
      // Neither an address outside the storage nor a link to a text file is accepted.
      await send('PUT', 'note.txt', { 'Content-Type': 'text/plain' }, 'no query');
      await saveAs('https://elsewhere.example/q.rq');
      await page.locator('.notice.bad', { hasText: 'not in this storage' }).waitFor();
      await page.goto(`${console.server.root}app#/ask?from=${encodeURIComponent(`${console.server.root}note.txt`)}`);
      await page.locator('.notice.bad', { hasText: 'does not lead to a query' }).waitFor();
      await console.go(page, 'ask');
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
