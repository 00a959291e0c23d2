/** Console: the table of triples: filter, pages, and changes of single statements, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { append, ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';

const rivers = `@prefix ex: <http://e.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<#aare> a ex:River ; rdfs:label "Aare"@en, "Die Aare"@de ; ex:length 288, 291.5 ; ex:into <#rhine> ; ex:source [ ex:name "Oberaar" ] .
<#rhine> rdfs:label "Rhine", "Rhin"@fr ; ex:note "two\\nlines \\"quoted\\"" .
`;

for (const path of pathsOf('The console, statements'))
  describeInBrowser(`The console, statements, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path, settings: { 'public-read': 'true' } });
      page = await console.owner();
    });
    after(() => console.stop());

    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    const lines = async (name: string): Promise<string[]> =>
      (await resources.text(name, 'application/n-triples'))
        .trim()
        .split('\n')
        .map((line) => line.replace(/_:\S+/g, '_:b'))
        .sort();
    const table = async (name: string, on = page): Promise<void> => {
      await resources.open(on, name);
      await on.getByRole('tab', { name: 'Data', exact: true }).click();
      await on.locator('.triples').waitFor();
      await on.getByLabel('Technical names').check();
    };
    const menuOf = (what: string) => page.getByRole('button', { name: `Actions for ${what}` });
    const act = async (action: string, what: string): Promise<void> => {
      await menuOf(what).press('Enter');
      await page.getByRole('button', { name: `${action} ${what}` }).press('Enter');
    };
    const subject = (label: string) => page.locator('.triples .subject', { hasText: label });

    it('changes and deletes single statements, and leaves the others', async () => {
      await resources.put('rivers', 'text/turtle', rivers);
      const before = await lines('rivers');
      await table('rivers');
      expect(await axeFindings(page)).to.deep.equal([]);
      const sending = page.waitForRequest((request) => request.method() === 'PATCH');
      const { etag } = (await resources.send('HEAD', 'rivers')).headers;
      await act('Edit', 'rdfs:label Die Aare');
      await page.getByLabel('Value').fill('L\'"Aar"');
      await page.getByLabel('Language').fill('fr');
      await page.keyboard.press('Enter');
      await menuOf(`rdfs:label L'"Aar"`).waitFor();
      expect((await (await sending).allHeaders())['if-match']).to.equal(etag);
      expect(await page.evaluate('document.activeElement.dataset.subject')).to.equal(`${resources.iri('rivers')}#aare`);
      await act('Edit', 'ex:length 291.5');
      await page.getByLabel('Value').fill('292.25');
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('Save').last().click();
      await menuOf('ex:length 292.25').waitFor();
      await act('Edit', 'ex:into #rhine');
      await page.getByLabel('Value').fill('not an IRI');
      await button('Save').last().click();
      await page.locator('.notice.bad', { hasText: '“not an IRI” is not a valid IRI.' }).waitFor();
      await page.getByLabel('Value').press('Escape');
      await page.getByLabel('Value').waitFor({ state: 'detached' });
      await act('Delete', 'ex:note two');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await act('Delete', 'ex:note two');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await menuOf('ex:note two').waitFor({ state: 'detached' });
      expect(await lines('rivers')).to.deep.equal(
        before
          .filter((line) => !line.includes('quoted'))
          .map((line) => line.replace('"Die Aare"@de', '"L\'\\"Aar\\""@fr').replace('"291.5"', '"292.25"'))
          .sort(),
      );
    });

    it('shows labels of subjects, and languages and datatypes after the values', async () => {
      await resources.put('shared', 'text/turtle', rivers);
      await table('shared');
      await subject('Aare').first().waitFor();
      expect((await subject('Aare').first().innerText()).trim()).to.equal('Aare #aare');
      const small = (of: string) => page.locator('.triples tr', { hasText: of }).locator('small').allInnerTexts();
      expect(await small('288')).to.deep.equal(['ex:length', 'xsd:integer']);
      expect(await small('Rhin')).to.include('@fr');
      await resources.put('notes', 'text/turtle', '<#a> <#says> "x"@en, "y"@en ; <#counts> 1, 2 .');
      await table('notes');
      const notes = (await page.locator('.triples td small').allInnerTexts()).sort();
      expect(notes).to.deep.equal(['@en', '@en', 'xsd:integer', 'xsd:integer']);
    });

    it('names properties and types in words, with the name of the vocabulary in grey on request', async () => {
      const data = '<#a> a <http://schema.org/ScholarlyArticle> ; <http://schema.org/datePublished> "2026" .';
      await resources.put('words', 'text/turtle', data);
      await table('words');
      const headings = async (): Promise<string[]> =>
        (await page.locator('.triples th[scope=row]').allInnerTexts()).map((text) => text.trim());
      await page.getByLabel('Technical names').uncheck();
      expect(await headings()).to.deep.equal(['Type', 'Date published']);
      await page.getByLabel('Technical names').check();
      expect(await headings()).to.deep.equal(['Type rdf:type', 'Date published schema:datePublished']);
      const type = page.locator('.triples td a', { hasText: 'Scholarly article' });
      expect(await type.locator('small').innerText()).to.equal('schema:ScholarlyArticle');
      await page.getByLabel('Filter').fill('date published');
      await page.locator('resource-table [role=status]', { hasText: '1 fact about 1 thing' }).waitFor();
    });

    it('shows the menu of a row that is pointed at or has the focus, and of each row on a phone', async () => {
      await table('shared');
      const menu = menuOf('ex:length 288');
      const opacity = (): Promise<unknown> =>
        page.evaluate(`getComputedStyle(document.querySelector('[aria-label="Actions for ex:length 288"]')).opacity`);
      await page.mouse.move(0, 0);
      expect(await opacity()).to.equal('0');
      await menu.focus();
      expect(await opacity()).to.equal('1');
      await menu.blur();
      await page.locator('.triples tr', { has: menu }).hover();
      expect(await opacity()).to.equal('1');
      const small = await console.owner({ viewport: { width: 360, height: 740 } });
      await table('shared', small);
      expect(await small.getByRole('button', { name: 'Delete ex:length 288' }).count()).to.equal(0);
      await small.getByRole('button', { name: 'Actions for ex:length 288' }).click();
      const remove = small.getByRole('button', { name: 'Delete ex:length 288' });
      expect(await axeFindings(small)).to.deep.equal([]);
      await remove.click();
      await small.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await remove.waitFor({ state: 'hidden' });
    });

    it('begins with things that have a name, and says which have none', async () => {
      await resources.put(
        'order',
        'text/turtle',
        '<#it> <#is> 1 . <#me> <http://schema.org/name> "Ada" ; <#has> [ <#is> 2 ] .',
      );
      await table('order');
      const names = (await page.locator('.triples .subject').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
      expect(names.map((text) => text.replace(' Edit blank nodes in the tab “Source”.', '').trim())).to.deep.equal([
        'Ada #me',
        '(no name) #it',
        '(no name) blank node 1',
      ]);
    });

    it('shows triple terms with links, deletes their statements, and keeps them when others change', async () => {
      const annotated = `PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
        <#a> <#knows> <#b> ~ <#r> {| <#since> 2020 |} ; <#says> "x"@ar--rtl, "y"@en .
        <#s> rdf:reifies <<( <#a> <#says> <<( <#a> <#knows> "z"@ar--rtl )>> )>> .`;
      await resources.put('annotated', 'text/turtle', annotated);
      await table('annotated');
      const cell = page.locator('.triples td', { hasText: '<<(' }).first();
      expect((await cell.innerText()).replace(/\s+/g, ' ').trim()).to.equal('<<( #a #knows #b )>>');
      expect(await cell.locator('a').allInnerTexts()).to.deep.equal(['#a']);
      const nested = page.locator('.triples td', { hasText: '@ar--rtl' }).filter({ hasText: '<<(' });
      expect((await nested.innerText()).replace(/\s+/g, ' ').trim()).to.equal(
        '<<( #a #says <<( #a #knows z @ar--rtl )>> )>>',
      );
      expect(await page.getByRole('button', { name: /^Edit .*<<\(/ }).count()).to.equal(0);
      const before = await lines('annotated');
      await act('Edit', '#says x');
      await page.getByLabel('Value').fill('new');
      await button('Save').click();
      await page.locator('.triples td', { hasText: 'new' }).waitFor();
      const changed = await lines('annotated');
      expect(changed.filter((line) => !before.includes(line)).join()).to.match(/"new"@ar--rtl/);
      expect(before.filter((line) => !changed.includes(line))).to.have.length(1);
      await act('Delete', 'rdf:reifies <<( #a #says');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await nested.waitFor({ state: 'detached', timeout: 20_000 });
      expect((await lines('annotated')).filter((line) => line.includes('z'))).to.deep.equal([]);
    });

    it('leaves blank nodes to the text, with a hint', async () => {
      await resources.put('blank', 'text/turtle', rivers);
      await table('blank');
      await subject('blank node 1').getByText('Edit blank nodes in the tab “Source”.').waitFor();
      expect(await button(/Oberaar|blank node/).count()).to.equal(0);
    });

    it('shows the current state after a concurrent change, which it does not overwrite', async () => {
      await resources.put('concurrent', 'text/turtle', rivers);
      await table('concurrent');
      await act('Edit', 'rdfs:label Rhine');
      await page.getByLabel('Value').fill('Mine');
      await resources.put('concurrent', 'text/turtle', rivers.replace('"Rhine"', '"Theirs"'));
      await button('Save').last().click();
      await page.locator('.notice.bad', { hasText: 'Another user changed this item.' }).waitFor();
      await menuOf('rdfs:label Theirs').waitFor();
      expect(await resources.text('concurrent'))
        .to.contain('"Theirs"')
        .and.not.to.contain('"Mine"');
    });

    it('filters statements by name and value, and pages by subject', async () => {
      const many = Array.from(
        { length: 1200 },
        (_, i) => `ex:s${i} ex:number ${i} ; ex:next ex:s${(i + 700) % 1200} .`,
      );
      await resources.put('many', 'text/turtle', `@prefix ex: <http://e.example/> .\n${many.join('\n')}`);
      await table('many');
      await page.getByText('Page 1 of 5').waitFor();
      const first = page.locator('.triples .subject').first();
      const before = await first.innerText();
      expect(await button('Previous').isDisabled()).to.equal(true);
      await button('Next').press('Enter');
      await page.getByText('Page 2 of 5').waitFor();
      expect(await first.innerText()).not.to.equal(before);
      await page.getByLabel('Filter').fill('ex:s77');
      await page.locator('resource-table [role=status]', { hasText: '32 facts about 21 things' }).waitFor();
      await page.getByLabel('Filter').fill('absent');
      await page.locator('resource-table [role=status]', { hasText: '0 facts about 0 things' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
    });

    it('reads subjects of a graph above 5 MB page by page, and changes its statements', async () => {
      const large = Array.from({ length: 25_000 }, (_, i) => `ex:s${i} ex:text "${i} ${'x'.repeat(200)}" .`);
      await resources.put('large', 'text/turtle', `@prefix ex: <http://e.example/> .\n${large.join('\n')}`);
      await table('large');
      await page.locator('resource-table [role=status]', { hasText: '50 facts about 50 things' }).waitFor();
      const first = page.locator('.triples .subject').first();
      const before = await first.innerText();
      await button('Next').click();
      await page.getByText('Page 2', { exact: true }).waitFor();
      await first.filter({ hasNotText: before }).waitFor();
      await page.getByLabel('Filter').fill('s24999');
      await page.getByLabel('Filter').press('Enter');
      await page.locator('resource-table [role=status]', { hasText: '1 fact about 1 thing' }).waitFor();
      await act('Edit', '');
      await page.getByLabel('Value').fill('short');
      await button('Save').last().click();
      await page.locator('.triples td', { hasText: 'short' }).waitFor();
      expect(await resources.text('large', 'application/n-triples')).to.contain(
        '<http://e.example/s24999> <http://e.example/text> "short" .',
      );
    });

    it('changes nothing while the text has unsaved changes, or without write access', async () => {
      await resources.open(page, 'shared');
      await page.getByRole('tab', { name: 'Source' }).click();
      await append(page, '<#new> <#is> 1 .');
      await page.getByRole('tab', { name: 'Data', exact: true }).click();
      await page.getByText('Save or undo them to change statements here.').waitFor();
      expect(await page.locator('.triples button').count()).to.equal(0);
      await page.getByRole('tab', { name: 'Source' }).click();
      await button('Undo all changes').click();
      const reader = await console.person({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
      await reader.goto(console.at(resources.place('shared')));
      await reader.getByRole('tab', { name: 'Data', exact: true }).click();
      await reader.locator('.triples .subject').first().waitFor();
      expect(await reader.locator('.triples button').count()).to.equal(0);
      const owner = await console.owner({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
      await table('shared', owner);
      await owner.getByRole('button', { name: 'Actions for ex:length 288' }).click();
      await owner.getByRole('button', { name: 'Edit ex:length 288' }).click();
      await owner.getByLabel('Value').waitFor();
      for (const small of [reader, owner]) {
        expect(await small.evaluate('document.documentElement.scrollWidth')).to.equal(360);
        expect(await axeFindings(small)).to.deep.equal([]);
      }
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
