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
    const addProperty = async (name: string): Promise<void> => {
      await field('Property to add').fill(name);
      await field('Property to add').press('Enter');
    };
    const edited = async (name: string): Promise<void> => {
      await resources.open(page, name);
      await page.getByRole('link', { name: 'Edit with a form' }).click();
      await field('Property to add').waitFor();
    };

    it('creates data in a folder without shapes, with values of several types', async () => {
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('data/') })}`);
      await button('New …').click();
      await page.locator('dialog [name=kind]').selectOption('Data, with a form');
      await page.locator('dialog [name=name]').fill('made');
      await button('Create').click();
      expect(await field('Name of the item').inputValue()).to.equal('made');
      await field('Type').fill('schema:Person');
      await field('schema:name').fill('Ada');
      await addProperty('schema:birthDate');
      await choice('Kind of schema:birthDate').selectOption('Date');
      await field('schema:birthDate').fill('1815-12-10');
      await addProperty('http://example.org/published');
      await choice('Kind of http://example.org/published').selectOption('Yes or no');
      await choice('http://example.org/published').selectOption('true');
      await addProperty('schema:name');
      await field('schema:name 2').fill('Augusta Ada');
      await field('Language of schema:name 2').fill('en');
      await addProperty('schema:url');
      await choice('Kind of schema:url').selectOption('Link');
      await field('schema:url').fill('https://example.org/ada');
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
      await field('ex:height').fill('540');
      await field('schema:postalCode').fill('3000');
      await button('Remove schema:name 2').click();
      await button('Remove ex:open').click();
      await page.getByText('A blank node. Edit it as text.').first().waitFor();
      await choice('Subject').selectOption('#other');
      await field('schema:name').fill('Basle');
      await button('Save').click();
      await titled('station.ttl');
      const after = (await resources.text('station.ttl', 'application/n-triples')).trim().split('\n');
      const blankless = (lines: readonly string[]) => lines.map((line) => line.replace(/_:\S+/g, '_:b')).sort();
      const expected = before
        .filter((line) => !/"Berne"|open>/.test(line))
        .map((line) => line.replace('"542"', '"540"').replace('"3012"', '"3000"').replace('"Basel"', '"Basle"'));
      expect(blankless(after)).to.deep.equal(blankless(expected));
    });

    it('rejects a property without an IRI, and continues as Turtle and back', async () => {
      await resources.put('plain.ttl', 'text/turtle', '<#it> <http://example.org/text> "Plain" .');
      await edited('plain.ttl');
      await addProperty('unknown:name');
      await page.locator('.notice.bad', { hasText: '“unknown:name” is not a property.' }).waitFor();
      await button('Continue as Turtle').click();
      const editor = page.locator('quad-editor .cm-content');
      await editor.filter({ hasText: 'Plain' }).waitFor();
      await editor.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.insertText('<#it> <http://schema.org/name> "typed" .');
      await button('Back to the form').click();
      expect(await field('schema:name').inputValue()).to.equal('typed');
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
