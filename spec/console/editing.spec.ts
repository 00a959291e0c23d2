/** Console: editing text and triples of a resource in a browser. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { append, ConsoleResources, editor, save } from '../support/console-resources.js';
import { patience } from '../support/patience.js';
import { pathsOf } from '../support/places.js';

const ada = `@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<#it> a foaf:Person ; foaf:name "Ada"@en ; foaf:knows <#bob>, <other> ; foaf:homepage <https://example.org/ada> .
<#bob> foaf:name "Bob" .
<#shape> a <http://example.org/shapes#Rare> ; <http://example.org/shapes#sides> 5 .
`;

for (const path of pathsOf('The console, editing'))
  describeInBrowser(`The console, editing, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
    });
    after(() => console.stop());

    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const option = (label: string) =>
      page.locator('.cm-tooltip-autocomplete li', { has: page.getByText(label, { exact: true }) });

    it('creates a document and saves repeated edits with the current ETag', async () => {
      await button('New …').click();
      await page.selectOption('dialog select', 'turtle');
      await page.fill('dialog [name=name]', 'made');
      await button('Create').click();
      await page.getByRole('heading', { level: 1, name: 'made.ttl' }).waitFor();
      await page.locator('text=No triples yet').waitFor();
      for (const name of ['Ada', 'Bob', 'Cleo']) {
        const writing = page.waitForRequest((request) => request.method() === 'PUT');
        const { etag } = (await resources.send('HEAD', 'made.ttl')).headers;
        await append(page, `<#${name}> <http://xmlns.com/foaf/0.1/name> "${name}" .\n`);
        await save(page);
        expect((await (await writing).allHeaders())['if-match']).to.equal(etag);
        expect(await resources.text('made.ttl')).to.contain(`"${name}"`);
      }
    });

    it('marks exactly one error in invalid Turtle, JSON and SPARQL', async () => {
      const cases = [
        { name: 'lint.ttl', mediaType: 'text/turtle', good: '<#a> <#b> <#c> .\n', bad: 'oops' },
        { name: 'lint.json', mediaType: 'application/json', good: '{"a": [1, null]}\n', bad: '}' },
        { name: 'lint.rq', mediaType: 'application/sparql-query', good: 'ASK { ?s ?p "x"@en }\n', bad: 'LIMIT }' },
      ];
      for (const { name, mediaType, good, bad } of cases) {
        await resources.put(name, mediaType, good);
        if (name.endsWith('.ttl')) await resources.openSource(page, name);
        else await resources.open(page, name);
        await append(page, bad);
        const marker = page.locator('.cm-lint-marker-error:visible');
        await marker.waitFor();
        expect(await marker.count(), name).to.equal(1);
        await button('Undo all changes').click();
        await marker.waitFor({ state: 'detached' });
      }
    });

    it('searches while typing, counts the matches and moves between them', async () => {
      await resources.put('found.txt', 'text/plain', 'one two\nTwo (2)\ntwo\n');
      await resources.open(page, 'found.txt');
      await editor(page).press('Control+f');
      const field = page.getByLabel('Find', { exact: true });
      await field.fill('two');
      await page.locator('.cm-find', { hasText: '3 found' }).waitFor();
      expect(await page.locator('.cm-searchMatch').count()).to.equal(3);
      for (const key of ['Enter', 'Shift+Enter', 'F3']) {
        await field.press(key);
        await page.locator('.cm-searchMatch-selected').waitFor();
      }
      expect(await axeFindings(page)).to.deep.equal([]);
      await field.fill('(2');
      await page.locator('.cm-find', { hasText: '1 found' }).waitFor();
      await field.fill('three');
      await page.locator('.cm-find', { hasText: 'Not found' }).waitFor();
      await field.press('Escape');
      await field.waitFor({ state: 'detached' });
    });

    /** Returns the number of characters before the marked error, or -1. */
    const marker = `(() => {
      const text = document.querySelector('quad-editor').shadowRoot.querySelector('.cm-content');
      const range = text.querySelector('.cm-lintRange-error');
      if (!range) return -1;
      const before = document.createRange();
      before.setStart(text, 0);
      before.setEnd(range, 0);
      return before.toString().length + [...text.querySelectorAll('.cm-line')].findIndex((line) => line.contains(range));
    })()`;

    it('marks the invalid token, not an equal one before it', async () => {
      await resources.put('where.ttl', 'text/turtle', '<#a> <#b> <#c> .');
      await resources.openSource(page, 'where.ttl');
      for (const [text, marked] of [
        ['<#a> <#b> <#a>, <#a> <#a> .', 21],
        ['PREFIX a: <http://a/>\na:a a:b a:a a:a .', 34],
        ['<#a> <#b> 1, a b .', 13],
        ['<#a> <#b> """x\ny""", x x .', 21],
      ] as const) {
        await editor(page).click();
        await page.keyboard.press('Control+a');
        await page.keyboard.press('Delete');
        await page.keyboard.insertText(text);
        // The linter waits for a pause in typing.
        let at = -1;
        for (let tries = 0; tries < 100 && at !== marked; tries++) {
          await page.waitForTimeout(100);
          at = await page.evaluate(marker);
        }
        expect(at, text).to.equal(marked);
      }
      await button('Undo all changes').click();
    });

    it("shows the server's error message and keeps the text", async () => {
      await resources.put('kept.ttl', 'text/turtle', ada);
      await resources.openSource(page, 'kept.ttl');
      const stored = await resources.text('kept.ttl');
      await append(page, '<#x> oops');
      await editor(page).press('Control+s');
      const refusal = page.locator('resource-text .problem');
      await refusal.waitFor();
      const answer = await resources.send(
        'PUT',
        'kept.ttl',
        { 'Content-Type': 'text/turtle', 'If-Match': (await resources.send('HEAD', 'kept.ttl')).headers['etag'] ?? '' },
        `${stored}<#x> oops`,
      );
      expect(await refusal.textContent()).to.equal((JSON.parse(answer.text) as { detail: string }).detail);
      expect(await editor(page).textContent()).to.contain('<#x> oops');
      expect(await resources.text('kept.ttl')).to.equal(stored);
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('Undo all changes').click();
      await refusal.waitFor({ state: 'detached' });
      expect(await editor(page).textContent()).not.to.contain('oops');
    });

    for (const [choice, kept, lost] of [
      ['Save mine over it', '"mine"', '"theirs"'],
      ['Use theirs', '"theirs"', '"mine"'],
    ] as const)
      it(`shows both versions after a concurrent change: ${choice.toLowerCase()}`, async () => {
        const name = `two ${kept === '"mine"' ? 'a' : 'b'}`;
        await resources.put(encodeURIComponent(name), 'text/turtle', ada);
        await resources.openSource(page, encodeURIComponent(name));
        await append(page, '<#who> <#by> "mine" .');
        await resources.put(encodeURIComponent(name), 'text/turtle', `${ada}<#who> <#by> "theirs" .`);
        await button('Save').click();
        await page.locator('section[aria-label="Their version"]', { hasText: '"theirs"' }).waitFor();
        await page.locator('section[aria-label="Your version"]', { hasText: '"mine"' }).waitFor();
        expect(await page.evaluate('document.activeElement.textContent')).to.contain('Another user saved this');
        expect(await axeFindings(page)).to.deep.equal([]);
        await button(choice).click();
        await page.locator('.state:visible', { hasText: 'No unsaved changes' }).waitFor();
        const now = await resources.text(encodeURIComponent(name));
        expect(now).to.contain(kept);
        expect(now).not.to.contain(lost);
        expect(await editor(page).textContent()).to.contain(kept);
        await append(page, '<#and> <#on> "goes" .');
        await save(page);
      });

    it('saves a resource again that another user deleted, with its line endings', async () => {
      await resources.put('gone.json', 'application/json', '{"a": 1,\r\n "b": 2}\r\n');
      await resources.open(page, 'gone.json');
      await append(page, ' ');
      await resources.delete('gone.json');
      await button('Save').click();
      await page.locator('text=Another user deleted this item').waitFor();
      await button('Save mine again').click();
      await page.locator('.state:visible', { hasText: 'No unsaved changes' }).waitFor();
      expect(await resources.text('gone.json')).to.equal('{"a": 1,\r\n "b": 2}\r\n ');
    });

    it('keeps unsaved text between pages, and asks before the browser discards it', async () => {
      const asks = 'dispatchEvent(new Event("beforeunload", { cancelable: true })) === false';
      await resources.put('draft.txt', 'text/plain', 'as it was');
      await resources.open(page, 'draft.txt');
      expect(await page.evaluate(asks)).to.equal(false);
      await append(page, ' and more');
      await console.go(page, 'search');
      await resources.open(page, 'gone.json');
      await page.locator('text=Not saved yet').waitFor();
      await resources.open(page, 'draft.txt');
      expect(await editor(page).textContent()).to.equal('as it was and more');
      expect(await page.evaluate(asks)).to.equal(true);
      const opening = page.waitForEvent('dialog');
      const reloading = page.reload();
      const dialog = await opening;
      expect(dialog.type()).to.equal('beforeunload');
      await dialog.accept();
      await reloading;
      await page.getByRole('heading', { level: 1, name: 'draft.txt' }).waitFor();
      expect(await editor(page).textContent()).to.equal('as it was');
    });

    it('opens Turtle of a megabyte as text and as a table', async () => {
      const lines = ['@prefix ex: <http://example.org/> .\n'];
      for (let length = 0, i = 0; length < 1e6; i++)
        length += lines.push(`ex:subject${i} ex:predicate "value ${i} ${'x'.repeat(40)}" .\n`) && lines.at(-1)!.length;
      await resources.put('large.ttl', 'text/turtle', lines.join(''));
      await resources.openSource(page, 'large.ttl');
      await editor(page).waitFor();
      expect(await editor(page).textContent()).to.match(/ex:|example\.org/);
      await page.getByRole('tab', { name: 'Data', exact: true }).click();
      await page.locator(`text=${lines.length - 1} facts about ${lines.length - 1} things`).waitFor();
      await page.getByText(`Page 1 of ${Math.ceil((lines.length - 1) / 500)}`).waitFor();
    });

    it('shows other serializations read-only', async () => {
      await resources.put('ada', 'text/turtle', ada);
      await resources.openSource(page, 'ada');
      const [saving, choice] = [page.getByRole('button', { name: 'Save', exact: true }), page.getByLabel('Shown as')];
      const middle = async (each: Locator): Promise<number> => {
        const { y, height } = (await each.boundingBox())!;
        return y + height / 2;
      };
      expect(await middle(choice), 'on one row').to.be.closeTo(await middle(saving), 4);
      for (const [mediaType, message] of [
        ['application/ld+json', '"@'],
        ['application/n-triples', `<${resources.iri('ada')}#bob> <http://xmlns.com/foaf/0.1/name> "Bob" .`],
        ['application/rdf+xml', 'rdf:RDF'],
      ] as const) {
        await page.selectOption('select:visible', mediaType);
        await page.locator('resource-serialisation .cm-content', { hasText: message }).waitFor();
        expect(await editor(page).getAttribute('aria-readonly')).to.equal('true');
        await append(page, 'typed');
        const value = await page.evaluate("document.querySelector('resource-serialisation quad-editor').value");
        expect(value)
          .to.equal(await resources.text('ada', mediaType))
          .and.not.to.contain('typed');
      }
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.selectOption('select:visible', 'text/turtle');
      expect(await page.locator('.state:visible').textContent()).to.equal('No unsaved changes');
    });

    it('shows triples in a table with links to subjects and resources', async () => {
      await resources.put('other', 'text/turtle', '<> <#is> "the other" .');
      await resources.openSource(page, 'ada');
      await page.getByRole('tab', { name: 'Source' }).press('ArrowLeft');
      await page.click('.triples td a :text-is("#bob")');
      await page.waitForFunction('document.activeElement.dataset.subject?.endsWith("#bob")');
      const external = page.locator('.triples a', { hasText: 'https://example.org/ada' });
      expect(await external.getAttribute('target')).to.equal('_blank');
      expect(await external.getAttribute('rel')).to.contain('noreferrer');
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.click('.triples td a :text-is("/other")');
      await page.getByRole('heading', { level: 1, name: 'other' }).waitFor();
      await page.locator('.triples td:visible', { hasText: 'the other' }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'ada' }).waitFor();
    });

    it('completes classes and predicates of the storage, and prefixes with their declaration', async () => {
      await resources.put('completed', 'text/turtle', '');
      // Names are fetched when the editor gets the focus: declared types, and one query each for classes and predicates. The queries of
      // a new page have a longer time limit, which only a very busy machine exceeds.
      const haveNames = async (): Promise<boolean> => {
        page = await console.owner({ colorScheme: 'dark' });
        await resources.open(page, 'completed');
        let queries = 0;
        const named = [
          page.waitForResponse(/\/type-index\b/),
          page.waitForResponse((answer) => /\/sparql\?timeout=/.test(answer.url()) && answer.ok() && ++queries === 2, {
            timeout: 10_000 * patience,
          }),
        ];
        await append(page, '<#it> ');
        const answers = await Promise.all(named).catch(() => []);
        for (const answer of answers) await answer.finished();
        return answers.length > 0;
      };
      while (!(await haveNames())) await page.close();
      await page.keyboard.type('a ');
      await option('foaf:Person').waitFor();
      await option('<http://example.org/shapes#Rare>').click();
      await page.keyboard.type('; <http://example.org/sh');
      await option('<http://example.org/shapes#sides>').click();
      await page.keyboard.type(' 5 ; dcte');
      await option('dcterms:').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await option('dcterms:').click();
      await page.keyboard.insertText('title "A title" .');
      await save(page);
      const saved = await resources.text('completed');
      expect(saved)
        .to.contain('@prefix dcterms: <http://purl.org/dc/terms/> .')
        .and.to.contain('dcterms:title "A title"');
      expect(saved).to.contain('shapes#Rare').and.to.contain('shapes#sides');
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
