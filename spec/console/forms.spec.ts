/** Console: forms for data that no shape describes, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, axeFindingsInBothModes, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';

const station = `@prefix schema: <http://schema.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.org/> .
<#it> a schema:Place ; schema:name "Bern", "Berne"@fr ; ex:height 542 ; ex:open true ; ex:built "1901"^^xsd:gYear ;
  schema:address [ schema:postalCode "3012" ; ex:loop _:b ] ; ex:parts ( 1 2 ) . _:b ex:loop _:b . <#other> schema:name "Basel" .
`;

for (const path of pathsOf('The console, forms'))
  describeInBrowser(`The console, forms, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
      await resources.send('PUT', 'data/', asContainer);
    });
    after(() => console.stop());

    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const field = (name: string) => page.getByLabel(name, { exact: true });
    const choice = (name: string) => page.getByRole('combobox', { name, exact: true });
    const titled = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    /** Opens the menu of a value, with its language and type. */
    const unfold = async (name: string): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.locator(`button[title="Details of ${name}"]`).click();
    };
    const remove = async (name: string): Promise<void> => {
      await unfold(name);
      await button(`Remove ${name}`).click();
    };
    const addProperty = async (name: string): Promise<void> => {
      await page.keyboard.press('Escape');
      await button('Add a field').click();
      await field('Find a field').fill(name);
      await field('Find a field').press('Enter');
    };
    const edited = async (name: string): Promise<void> => {
      await resources.open(page, name);
      await page.getByRole('link', { name: 'Edit with a form' }).click();
      await button('Add a field').waitFor();
    };

    it('creates data in a folder without shapes, with values of several types', async () => {
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('data/') })}`);
      await button('New …').click();
      await page.locator('dialog [name=kind]').selectOption('Data, with a form');
      await page.locator('dialog [name=name]').fill('made');
      await button('Create').click();
      expect(await field('File name').inputValue()).to.equal('made');
      await choice('Type').selectOption('Person');
      await field('Email').waitFor();
      await field('Name').fill('Ada');
      expect(await field('File name').inputValue(), 'was chosen').to.equal('made');
      await addProperty('birth');
      expect(await field('Birth date').getAttribute('type')).to.equal('date');
      await field('Birth date').fill('1815-12-10');
      await addProperty('http://example.org/published');
      await unfold('Published');
      await choice('Type of Published').selectOption('Yes or no');
      await choice('Published').selectOption('true');
      await addProperty('schema:name');
      await field('Name 2').fill('Augusta Ada');
      await unfold('Name 2');
      await field('Language of Name 2').fill('en');
      await unfold('Web address');
      await choice('Type of Web address').selectOption('Link');
      await field('Web address').fill('https://example.org/ada');
      await page.keyboard.press('Escape');
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      await button('Create').click();
      await titled('made.ttl');
      const stored = (await resources.text('data/made.ttl', 'application/n-triples')).trim().split('\n');
      const of = (property: string, value: string): string =>
        `<${resources.iri('data/made.ttl')}#it> <${property}> ${value} .`;
      expect(stored).to.have.members([
        of('http://www.w3.org/1999/02/22-rdf-syntax-ns#type', '<http://schema.org/Person>'),
        of('http://schema.org/name', '"Ada"'),
        of('http://schema.org/name', '"Augusta Ada"@en'),
        of('http://schema.org/birthDate', '"1815-12-10"^^<http://www.w3.org/2001/XMLSchema#date>'),
        of('http://example.org/published', '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        of('http://schema.org/url', '<https://example.org/ada>'),
      ]);
    });

    it('changes and removes values of every property, and keeps lists, cycles and other subjects', async () => {
      await resources.put('station.ttl', 'text/turtle', station);
      const before = (await resources.text('station.ttl', 'application/n-triples')).trim().split('\n');
      await edited('station.ttl');
      await field('Height').fill('540');
      await field('Postal code').fill('3000');
      await remove('Name 2');
      await remove('Open');
      await page.getByText('A blank node. Edit it as text.').first().waitFor();
      await choice('Record').selectOption('Basel');
      await field('Name').fill('Basle');
      await button('Save').click();
      await titled('station.ttl');
      const after = (await resources.text('station.ttl', 'application/n-triples')).trim().split('\n');
      const blankless = (lines: readonly string[]) => lines.map((line) => line.replace(/_:\S+/g, '_:b')).sort();
      const expected = before
        .filter((line) => !/"Berne"|open>/.test(line))
        .map((line) => line.replace('"542"', '"540"').replace('"3012"', '"3000"').replace('"Basel"', '"Basle"'));
      expect(blankless(after)).to.deep.equal(blankless(expected));
    });

    it('opens the record with a name, and shows links by their labels', async () => {
      const text = `@prefix schema: <http://schema.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
<#it> schema:award "Prize" ; schema:url <#a>, <#b> . <#me> foaf:name "Ada Okafor" ; schema:name "Ada"@en ; schema:knows <#mei> . <#mei> schema:name "Mei Tanaka" .`;
      await resources.put('ada.ttl', 'text/turtle', text);
      await edited('ada.ttl');
      expect(await choice('Record').locator('option').allTextContents()).to.have.members(['#it', 'Ada', 'Mei Tanaka']);
      expect(await choice('Record').locator('option:checked').textContent()).to.equal('Ada');
      expect(await field('Name (foaf:name)').inputValue()).to.equal('Ada Okafor');
      await page.getByRole('button', { name: 'Details of Name (schema:name) (English)' }).waitFor();
      const knows = page.locator('fieldset', { hasText: 'schema:knows' });
      await knows.locator(`[title="${resources.iri('ada.ttl#mei')}"]`, { hasText: 'Mei Tanaka' }).waitFor();
      expect(await field('Knows').isVisible()).to.equal(false);
      await unfold('Knows');
      await field('Knows').fill(resources.iri('ada.ttl#it'));
      await field('Knows').press('Enter');
      await button('Save').click();
      await titled('ada.ttl');
      expect(await resources.text('ada.ttl', 'application/n-triples')).to.contain(
        `knows> <${resources.iri('ada.ttl#it')}>`,
      );
    });

    it('keeps what the user did not change: schemes that are also prefixes, text of another type, booleans', async () => {
      const text = `@prefix schema: <https://schema.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<#it> schema:geo <geo:52.1,4.3> ; schema:height "542 m", "k" ; schema:open "1"^^xsd:boolean ; <http://schema.org/knows> <urn:p:1> .`;
      await resources.put('kept.ttl', 'text/turtle', text);
      await edited('kept.ttl');
      await field('Geo').fill('geo:52.1,4.5');
      await unfold('Height 1');
      await choice('Type of Height 1').selectOption('Whole number');
      await unfold('Height 1');
      await choice('Type of Height 1').selectOption('Text');
      await choice('Open').selectOption('false');
      await choice('Open').selectOption('true');
      expect(await choice('Open').locator('option:checked').textContent()).to.equal('true');
      await button('Save').click();
      await titled('kept.ttl');
      const stored = await resources.text('kept.ttl', 'application/n-triples');
      expect(stored).to.contain('<geo:52.1,4.5>').and.to.contain('"542 m" .').and.to.contain('"true"^^');
      // The prefix of the document stands for another namespace than the suggestion. The console asks for names for two seconds, in
      // which a query thread does not start on a busy machine.
      const query = 'SELECT DISTINCT ?name { ?s ?name ?o } LIMIT 500';
      await resources.send('POST', '.lws/sparql', { 'Content-Type': 'application/sparql-query' }, query);
      // The page keeps the names that it has.
      await page.reload();
      await edited('kept.ttl');
      await button('Add a field').click();
      await field('Find a field').fill('know');
      await page.locator('.property-menu button', { hasText: 'http://schema.org/knows' }).first().waitFor();
    });

    it('clears a boolean without changing its type', async () => {
      await resources.put(
        'open.ttl',
        'text/turtle',
        '<#it> <http://example.org/open> true ; <http://example.org/x> 1 .',
      );
      await edited('open.ttl');
      await choice('Open').selectOption('');
      expect(await choice('Open').locator('option').allTextContents()).to.deep.equal(['Choose …', 'true', 'false']);
      await choice('Open').selectOption('false');
      await button('Save').click();
      await titled('open.ttl');
      expect(await resources.text('open.ttl', 'application/n-triples')).to.contain('"false"^^');
    });

    it('opens a document with deeply nested blank nodes, and removes a list with all of its nodes', async () => {
      const chain = Array.from({ length: 1500 }, (_, at) => `_:b${at} <urn:p:next> _:b${at + 1} .`).join('\n');
      const list = `<#it> <urn:p:list> ( ${'1 '.repeat(2000)}) ; <urn:p:chain> _:b0 ; <urn:p:name> "n" .`;
      await resources.put('deep.ttl', 'text/turtle', `${list}\n${chain}`);
      await edited('deep.ttl');
      await remove('List');
      await button('Save').click();
      await titled('deep.ttl');
      const stored = (await resources.text('deep.ttl', 'application/n-triples')).trim().split('\n');
      expect(stored).to.have.length(1502);
    });

    it('has the usual fields of the type that is chosen for a new item', async () => {
      await console.go(page, `form?${new URLSearchParams({ at: resources.iri('data/') })}`);
      await choice('Type').selectOption('Event');
      expect(await field('Start date').getAttribute('type')).to.equal('date');
      await field('Name').fill('Workshop');
      await field('Name').press('Tab');
      await choice('Type').selectOption('Other …');
      await field('Type').fill('schema:Course');
      await field('Type').press('Tab');
      await field('Start date').waitFor({ state: 'detached' });
      expect(await field('Name').inputValue()).to.equal('Workshop');
      await field('Name').fill('Été à Genève, 2026');
      expect(await field('File name').inputValue()).to.equal('ete-a-geneve-2026');
      await field('Name').fill('Workshop');
      await field('File name').fill('course');
      await button('Create').click();
      await titled('course.ttl');
      const stored = await resources.text('data/course.ttl', 'application/n-triples');
      expect(stored).to.contain('<http://schema.org/Course>').and.to.contain('"Workshop"');
      expect(stored.trim().split('\n').length).to.equal(2);
    });

    it('shows names of vocabularies on demand, and controls that end at one line', async () => {
      await edited('station.ttl');
      const technical = page.locator('legend small', { hasText: 'schema:name' });
      expect(await technical.isVisible()).to.equal(false);
      await field('Technical names').check();
      await technical.waitFor();
      const right = async (name: string): Promise<number> => {
        const { x, width } = (await field(name).boundingBox())!;
        return x + width;
      };
      expect(await right('Name')).to.be.closeTo(await right('Height'), 1);
      await button('Remove this address').waitFor();
      await button('Add another address').waitFor();
      expect(await button('Add another height').isVisible()).to.equal(false);
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
    });

    it('rejects a property without an IRI, and continues as Turtle and back', async () => {
      await resources.put('plain.ttl', 'text/turtle', '<#it> <http://example.org/text> "Plain" .');
      await edited('plain.ttl');
      await addProperty('unknown:name');
      await page.locator('.notice.bad', { hasText: '“unknown:name” is not a property.' }).waitFor();
      await page.keyboard.press('Escape');
      await button('Continue as Turtle').click();
      const editor = page.locator('quad-editor .cm-content');
      await editor.filter({ hasText: 'Plain' }).waitFor();
      await editor.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.insertText('<#it> <http://schema.org/name> "typed" .');
      await button('Back to the form').click();
      expect(await field('Name').inputValue()).to.equal('typed');
      await button('Save').click();
      await titled('plain.ttl');
      expect(await resources.text('plain.ttl', 'application/n-triples')).to.contain('"typed"');
    });

    it('fits a screen of 360 pixels', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      await edited('station.ttl');
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
