/** Console: shapes of a container, their violations, and forms for resources of a shape, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';
import { constrainedBy, withShapes } from '../support/shapes.js';

const shapes = `@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<#Dataset> a sh:NodeShape ; sh:targetClass dcat:Dataset ;
  sh:property [ sh:path dct:title ; sh:name "Title"@en, "Titel"@de ; sh:description "What the dataset is called." ; sh:order 1 ;
    sh:minCount 1 ; sh:or ( [ sh:datatype xsd:string ] [ sh:nodeKind sh:Literal ; sh:languageIn ( "en" "de" ) ] ) ] ;
  sh:property [ sh:path dct:issued ; sh:order 2 ; sh:maxCount 1 ; sh:datatype xsd:date ] ;
  sh:property [ sh:path dct:license ; sh:order 3 ; sh:minCount 1 ; sh:maxCount 2 ; sh:nodeKind sh:IRI ; sh:pattern "^https:" ;
    sh:message "The license must be an https address." ] ;
  sh:property [ sh:path dct:accrualPeriodicity ; sh:order 4 ; sh:in ( <http://example.org/daily> <http://example.org/weekly> ) ] ;
  sh:property [ sh:path ( dct:publisher dct:title ) ; sh:maxCount 1 ; sh:message "The publisher has two names." ] ;
  sh:property [ sh:path [ sh:inversePath <http://example.org/about> ] ; sh:maxCount 5 ; sh:message "Too many are about it." ] .
`;
const rivers = `@prefix dct: <http://purl.org/dc/terms/> .
@prefix ex: <http://example.org/> .
<#it> a <http://www.w3.org/ns/dcat#Dataset> ; dct:title "Rivers"@en, "Flüsse"@de ; dct:license <https://example.org/free> ;
  dct:publisher [ dct:title "A \\"quoted\\" name" ] ; ex:other 5, "five", true . <#more> ex:about <#it> .
`;

const things = `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.org/> .
ex:Lamp a sh:NodeShape ; sh:targetClass ex:Lamp ; sh:node [ sh:property [ sh:path ex:lit ; sh:datatype xsd:boolean ; sh:order 1 ] ] ;
  sh:property [ sh:path ex:watts ; sh:datatype xsd:decimal ; sh:defaultValue 7.5 ; sh:order 2 ], [ sh:path ex:about ; sh:order 3 ] ,
  [ sh:path ex:state ; sh:in ( "new" "old" ) ; sh:order 4 ] , [ sh:path ex:off ; sh:deactivated true ] .
ex:Chair a sh:NodeShape ; sh:targetClass ex:Chair ; sh:property [ sh:path ex:legs ; sh:datatype xsd:integer ] .
`;

for (const path of pathsOf('The console, shapes'))
  describeInBrowser(`The console, shapes, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path, settings: { ...withShapes.settings, 'public-read': 'true' } });
      page = await console.owner();
      await resources.send('PUT', 'sets/', asContainer);
      await resources.put('shapes.ttl', 'text/turtle', shapes);
      await resources.put('sets/broken', 'text/turtle', '<#it> a <http://www.w3.org/ns/dcat#Dataset> .');
    });
    after(() => console.stop());

    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const link = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true });
    const field = (name: string) => page.getByLabel(name, { exact: true });
    const choice = (name: string) => page.getByRole('combobox', { name, exact: true });
    /** Opens the menu of a value. */
    const unfold = async (name: string): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.locator(`button[title="Details of ${name}"]`).click();
    };
    const at = (name: string): string => new URLSearchParams({ at: resources.iri(name) }).toString();

    it('links a container to shapes, and lists the resources that violate them', async () => {
      await console.go(page, `browse?${at('sets/')}`);
      await page.locator('summary', { hasText: 'More' }).click();
      await link('Forms and rules').click();
      await page.getByRole('heading', { level: 1, name: 'Form for the records in the folder sets' }).waitFor();
      await link('Open').waitFor();
      await button('Make a form').waitFor();
      await page.getByText('Advanced: use a SHACL file').click();
      expect(await button('Use this file').isDisabled()).to.equal(true);
      await button('/shapes.ttl').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await field('Chosen file, or another address').fill('/absent');
      await button('Use this file').click();
      await page.locator('.notice.bad').waitFor();
      await button('/shapes.ttl').click();
      expect(await field('Chosen file, or another address').inputValue()).to.equal('/shapes.ttl');
      await field('Chosen file, or another address').fill('');
      await page.getByText('Look in the folders').click();
      await button('sets').click();
      await button('broken').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('↑ Folder above').click();
      await button('shapes.ttl').click();
      await button('Use this file').click();
      await page.getByRole('alert').filter({ hasText: 'violate the shapes' }).waitFor();
      await link('/sets/broken').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('Use it anyway').click();
      await button('Stop using /shapes.ttl').waitFor();
      await button('Check the records').click();
      await page.getByText('The license must be an https address.').waitFor();
      await link('/sets/broken').click();
      await page.getByRole('heading', { level: 1, name: 'broken' }).waitFor();
      expect((await resources.send('GET', 'sets/.meta')).text).to.contain(constrainedBy);
    });

    it('creates a resource with a form, and shows violations next to their fields', async () => {
      await console.go(page, `browse?${at('sets/')}`);
      await page.locator('summary', { hasText: 'More' }).press('Enter');
      await link('New with a form').press('Enter');
      await field('File name').fill('levels');
      await field('Title').fill('Levels of the "Aare"');
      expect(await page.locator('fieldset').first().getAttribute('aria-describedby')).to.equal('field-0-hint');
      await page.getByText('What the dataset is called.').waitFor();
      await page.getByRole('button', { name: 'Details of Title (English)' }).waitFor();
      await page.getByText('Checked against the form “Dataset”').waitFor();
      expect(await field('Issued').getAttribute('type')).to.equal('date');
      await field('Issued').fill('2026-06-01');
      await unfold('Title');
      await button('Add another title').click();
      await field('Title 2').fill('Pegel');
      await unfold('Title 2');
      await choice('Language of Title 2').selectOption('German');
      await field('License').fill('http://example.org/free');
      await field('Accrual periodicity').selectOption({ index: 2 });
      await button('Create').click();
      const refused = page.locator('fieldset', { hasText: 'dct:license' }).getByRole('alert');
      await refused.filter({ hasText: 'The license must be an https address.' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      expect((await resources.send('HEAD', 'sets/levels.ttl')).status).to.equal(404);
      await field('License').fill('https://example.org/free');
      await button('Create').press('Enter');
      await page.getByRole('heading', { level: 1, name: 'levels.ttl' }).waitFor();
      const stored = await resources.text('sets/levels.ttl', 'application/n-triples');
      for (const statement of [
        'title> "Levels of the \\"Aare\\""@en',
        'title> "Pegel"@de',
        'issued> "2026-06-01"^^<http://www.w3.org/2001/XMLSchema#date>',
        'license> <https://example.org/free>',
        'accrualPeriodicity> <http://example.org/weekly>',
        `<${resources.iri('sets/levels.ttl')}#it> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Dataset>`,
      ])
        expect(stored).to.contain(statement);
      expect(stored.trim().split('\n').length).to.equal(6);
    });

    it('edits a resource with a form, and keeps what has no field', async () => {
      await resources.put('sets/rivers', 'text/turtle', rivers);
      const before = (await resources.text('sets/rivers', 'application/n-triples')).trim().split('\n');
      await resources.open(page, 'sets/rivers');
      await link('Edit with a form').click();
      await page.getByText('1 property of the shape has no field.').waitFor();
      expect(await field('Title (dct:title)').inputValue()).to.equal('A "quoted" name');
      expect(await field('Title 1').inputValue()).to.equal('Flüsse');
      await unfold('Title 1');
      await button('Remove Title 1').press('Enter');
      await field('Title').fill('Rivers and lakes');
      await button('Save').click();
      await page.getByRole('heading', { level: 1, name: 'rivers', exact: true }).waitFor();
      const blankless = (lines: readonly string[]) => lines.map((line) => line.replace(/_:\S+/g, '_:b')).sort();
      const after = (await resources.text('sets/rivers', 'application/n-triples')).trim().split('\n');
      expect(blankless(after)).to.deep.equal(
        blankless(before.filter((line) => !line.includes('Flüsse'))).map((line) =>
          line.replace('"Rivers"', '"Rivers and lakes"'),
        ),
      );
      expect(await resources.text('sets/rivers')).to.contain('@prefix ex: <http://example.org/>');
    });

    it('shows violations without a field above the form, and keeps the input after a concurrent change', async () => {
      await console.go(page, `form?${at('sets/rivers')}`);
      await field('Title').fill('Mine');
      const strict = shapes
        .replace('sh:path dct:issued ;', 'sh:path dct:issued ; sh:minCount 1 ;')
        .replace('sh:maxCount 1 ; sh:message', 'sh:maxCount 0 ; sh:message')
        .replace('sh:maxCount 5 ; sh:message', 'sh:maxCount 0 ; sh:message');
      await resources.put('shapes.ttl', 'text/turtle', strict);
      await button('Save').click();
      await page.locator('form > .problem', { hasText: 'Too many are about it.' }).last().waitFor();
      await page
        .locator('fieldset fieldset')
        .getByRole('alert')
        .filter({ hasText: 'The publisher has two names.' })
        .waitFor();
      await page.locator('fieldset', { hasText: 'dct:issued' }).getByRole('alert').waitFor();
      await resources.put('shapes.ttl', 'text/turtle', shapes);
      await resources.put('sets/rivers', 'text/turtle', rivers.replace('five', 'six').replace(', "Flüsse"@de', ''));
      await button('Save').click();
      await page.getByRole('alert').filter({ hasText: 'Another user changed this item' }).waitFor();
      expect(await field('Title').inputValue()).to.equal('Mine');
      await console.go(page, 'search');
      await console.go(page, `form?${at('sets/rivers')}`);
      expect(await field('Title').inputValue()).to.equal('Mine');
    });

    it('chooses a shape, and edits several subjects with fields for numbers, truth values, IRIs and long texts', async () => {
      await resources.send('PUT', 'things/', asContainer);
      await resources.put('things.ttl', 'text/turtle', things);
      const link = { linkset: [{ [constrainedBy]: [{ href: resources.iri('things.ttl') }] }] };
      const fields = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
      expect((await resources.send('PUT', 'things/.meta', fields, JSON.stringify(link))).status).to.equal(204);
      await console.go(page, `form?${at('things/')}`);
      await choice('Kind of record').selectOption('Chair');
      await field('Legs').fill('4');
      await choice('Kind of record').selectOption('Lamp');
      expect(await field('Watts').inputValue()).to.equal('7.5');
      expect(await page.getByLabel('Off').count()).to.equal(0);
      await field('File name').fill('lamp');
      await unfold('About');
      await field('Type of About').selectOption('Link');
      await field('About').fill('not an IRI');
      await button('Create').click();
      await page.getByRole('alert').filter({ hasText: '“not an IRI” is not a valid IRI.' }).waitFor();
      await field('About').fill('http://example.org/a');
      await button('Create').click();
      await page.getByRole('heading', { level: 1, name: 'lamp.ttl' }).waitFor();
      const lamp = await resources.text('things/lamp.ttl', 'application/n-triples');
      expect(lamp)
        .to.contain('watts> "7.5"^^')
        .and.to.contain('about> <http://example.org/a>')
        .and.not.to.contain('legs');
      const two = `@prefix ex: <http://example.org/> . <#a> a ex:Lamp ; ex:lit true ; ex:state "new" ; ex:about "two\\nlines" . <#b> a ex:Lamp ; ex:lit false ; ex:state "old" .`;
      await resources.put('things/two', 'text/turtle', two);
      await console.go(page, `form?${at('things/two')}`);
      await field('State').selectOption('old');
      await choice('Record').selectOption('#b');
      expect(await page.locator('[aria-label="State"] option:checked').textContent()).to.equal('old');
      await field('State').selectOption('new');
      await field('Lit').selectOption('true');
      await choice('Record').selectOption('#a');
      expect(await page.locator('[aria-label="State"] option:checked').textContent()).to.equal('old');
      expect(await field('About').inputValue()).to.equal('two\nlines');
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('Save').click();
      await page.getByRole('heading', { level: 1, name: 'two', exact: true }).waitFor();
      const stored = await resources.text('things/two', 'application/n-triples');
      for (const statement of [
        '#a> <http://example.org/state> "old"',
        '#b> <http://example.org/state> "new"',
        '#b> <http://example.org/lit> "true"',
        '"two\\nlines"',
      ])
        expect(stored).to.contain(statement);
      expect(stored.trim().split('\n').length).to.equal(7);
    });

    it('shows every property if no shape applies, and leads to shapes', async () => {
      await resources.put('sets/plain.ttl', 'text/turtle', '<#it> <http://example.org/text> "Plain" .');
      await console.go(page, `form?${at('sets/plain.ttl')}`);
      await page.getByText('The form of this folder is for another type of record').waitFor();
      expect(await field('Text').inputValue()).to.equal('Plain');
      expect(await axeFindings(page)).to.deep.equal([]);
      await resources.send('PUT', 'formless/', asContainer);
      await console.go(page, `form?${at('formless/')}`);
      await link('give this folder a form').click();
      await button('Make a form').waitFor();
    });

    it('has fields for nodes in nodes, continues as Turtle, and deletes what is removed', async () => {
      const nodes = `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:Set a sh:NodeShape ; sh:targetClass ex:Set ;
  sh:property [ sh:path ( ex:publisher ex:name ) ; sh:minCount 1 ; sh:message "The publisher has no name." ] ,
    [ sh:path ( ex:publisher ex:address ex:city ) ] , [ sh:path ex:file ; sh:node ex:File ; sh:maxCount 2 ] .
ex:File a sh:NodeShape ; sh:property [ sh:path ex:url ; sh:nodeKind sh:IRI ; sh:minCount 1 ] , [ sh:path ex:bytes ; sh:datatype xsd:integer ] ,
  [ sh:path ex:part ; sh:node ex:File ] .`;
      await resources.send('PUT', 'nodes/', asContainer);
      await resources.put('nodes.ttl', 'text/turtle', nodes);
      const link = { linkset: [{ [constrainedBy]: [{ href: resources.iri('nodes.ttl') }] }] };
      const fields = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
      expect((await resources.send('PUT', 'nodes/.meta', fields, JSON.stringify(link))).status).to.equal(204);
      await console.go(page, `form?${at('nodes/')}`);
      await field('File name').fill('made');
      const inFile = page.locator('fieldset', { hasText: 'ex:file' }).first();
      await inFile.getByLabel('Url', { exact: true }).first().fill('http://example.org/a.csv');
      await inFile.getByLabel('Bytes', { exact: true }).first().fill('12');
      await button('Create').click();
      const refused = page.locator('fieldset fieldset', { hasText: 'ex:name' }).getByRole('alert');
      await refused.filter({ hasText: 'The publisher has no name.' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByText('required').first().waitFor();
      await field('Name').fill('University of Bern');
      await field('City').fill('Bern');
      await button('Continue as Turtle').click();
      const editor = page.locator('quad-editor .cm-content');
      await editor.filter({ hasText: 'University of Bern' }).waitFor();
      await editor.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.insertText('<#it> <http://example.org/note> "typed" .');
      await button('Back to the form').click();
      expect(await field('City').inputValue()).to.equal('Bern');
      await button('Continue as Turtle').click();
      await button('Create').click();
      await page.getByRole('heading', { level: 1, name: 'made.ttl', exact: true }).waitFor();
      const stored = await resources.text('nodes/made.ttl', 'application/n-triples');
      for (const statement of [
        'name> "University of Bern"',
        'city> "Bern"',
        'url> <http://example.org/a.csv>',
        'note> "typed"',
      ])
        expect(stored).to.contain(statement);
      expect(stored)
        .to.match(/bytes> "12"/)
        .and.not.to.contain('part>');
      expect(stored.trim().split('\n').length, 'empty nodes are left out').to.equal(9);
      await console.go(page, `form?${at('nodes/made.ttl')}`);
      await inFile.getByRole('button', { name: 'Add another file' }).click();
      await button('Remove this file: File 1').click();
      await choice('Type of File').selectOption('Link');
      await field('File').fill('http://example.org/b');
      await unfold('File');
      await choice('Type of File').selectOption('Details');
      await inFile.getByLabel('Url', { exact: true }).first().fill('http://example.org/b.csv');
      await button('Save').click();
      await page.getByRole('heading', { level: 1, name: 'made.ttl', exact: true }).waitFor();
      const after = await resources.text('nodes/made.ttl', 'application/n-triples');
      expect(after)
        .to.contain('url> <http://example.org/b.csv>')
        .and.not.to.match(/a\.csv|bytes/);
    });

    it('shows callers without write access neither links nor forms', async () => {
      const reader = await console.person({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
      await reader.goto(console.at(`browse?${at('sets/')}`));
      await reader.locator('summary', { hasText: 'More' }).click();
      await reader.getByRole('main').getByRole('link', { name: 'Forms and rules', exact: true }).click();
      await reader.getByRole('link', { name: '/shapes.ttl', exact: true }).waitFor();
      expect(await reader.getByRole('button', { name: /Use|Make a form/ }).count()).to.equal(0);
      expect(await reader.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      expect(await axeFindings(reader)).to.deep.equal([]);
      const owner = await console.owner({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
      await console.go(owner, `form?${at('sets/rivers')}`);
      await owner.getByLabel('Title', { exact: true }).waitFor();
      expect(await owner.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      expect(await axeFindings(owner)).to.deep.equal([]);
    });

    it('says that shapes are inherited, and unlinks them', async () => {
      await console.go(page, `shapes?${at('sets/levels.ttl')}`);
      await page.getByText('A folder above has this form.').waitFor();
      await console.go(page, `shapes?${at('sets/')}`);
      // Without its own link, shapes of the root would apply, which broken does not conform to.
      const link = { linkset: [{ [constrainedBy]: [{ href: resources.iri('strict.ttl') }] }] };
      await resources.put(
        'strict.ttl',
        'text/turtle',
        shapes.replace('sh:path dct:issued ;', 'sh:path dct:issued ; sh:minCount 1 ;'),
      );
      const lenient = { 'Content-Type': 'application/linkset+json', 'If-Match': '*', Prefer: 'handling=lenient' };
      expect((await resources.send('PUT', '.meta', lenient, JSON.stringify(link))).status).to.equal(204);
      await button('Stop using /shapes.ttl').click();
      await button('Stop using it anyway').click();
      await page.getByText('A folder above has this form.').waitFor();
      expect((await resources.send('GET', 'sets/.meta')).text).not.to.contain(constrainedBy);
    });

    it('makes a form of a kind of record, uses it, and changes it', async () => {
      await resources.send('PUT', 'stations/', asContainer);
      await console.go(page, `shapes?${at('stations/')}`);
      await button('Make a form').click();
      const row = (number: number) => page.getByRole('group', { name: `Field ${number}`, exact: true });
      const add = async (name: string, kind: string): Promise<void> => {
        const count = await page.locator('.built-field').count();
        await button('Add a field').click();
        await row(count + 1)
          .getByLabel('Name of the field')
          .fill(name);
        await row(count + 1)
          .getByLabel('Kind')
          .selectOption(kind);
      };
      await field('Kind of record').fill('Station');
      await add('Operator', 'Text');
      await row(2).getByLabel('Required').check();
      await add('Height', 'Number');
      await add('State', 'Choice');
      await row(4).getByLabel('Choices').fill('open, "closed"');
      await add('Email', 'Text');
      await row(5).getByLabel('Several').check();
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('Use this form').click();
      await page.locator('.notice', { hasText: 'The form is in use.' }).waitFor();
      expect(await resources.text('stations-form.ttl')).to.contain('sh:NodeShape');
      expect((await resources.send('GET', 'stations/.meta')).text).to.contain('stations-form.ttl');
      await page.getByText('Name (required), Operator (required), Height, State, Email').waitFor();
      await link('New record').click();
      await page.getByText('Checked against the form “Station”').waitFor();
      await field('Name').fill('Bern');
      expect(await field('Height').getAttribute('type')).to.equal('number');
      await field('State').selectOption('"closed"');
      await button('Create').click();
      await page.locator('fieldset', { hasText: 'Operator' }).getByRole('alert').waitFor();
      await field('Operator').fill('BAFU');
      await button('Create').click();
      await page.getByRole('heading', { level: 1, name: 'bern.ttl' }).waitFor();
      const stored = await resources.text('stations/bern.ttl', 'application/n-triples');
      const form = resources.iri('stations-form.ttl');
      expect(stored)
        .to.contain(`<${form}#operator> "BAFU"`)
        .and.to.contain('<http://schema.org/name> "Bern"')
        .and.to.contain(`<${form}#Station>`)
        .and.to.contain('"\\"closed\\""');
      await console.go(page, `shapes?${at('stations/')}`);
      await button('Edit the form Station').click();
      await row(4).getByLabel('Kind').selectOption('Text');
      await row(2).getByRole('button', { name: 'Remove field 2' }).click();
      await button('Save the form').click();
      await page.getByText('Name (required), Height, State, Email').waitFor();
      expect(await resources.text('stations-form.ttl')).not.to.contain('closed');
    });

    it('rejects a form with a taken name, without fields, or with a property that is no address', async () => {
      await resources.send('PUT', 'lakes/', asContainer);
      await resources.put('lakes-form.ttl', 'text/turtle', shapes);
      await console.go(page, `shapes?${at('lakes/')}`);
      await button('Make a form').click();
      const said = (text: string) =>
        page.locator('form-builder').getByRole('alert').filter({ hasText: text }).waitFor();
      await button('Use this form').click();
      await said('Name the kind of record');
      await field('Kind of record').fill('Lake');
      await button('Use this form').click();
      await said('“lakes-form.ttl” already exists. Choose another file name.');
      await field('Technical names').check();
      await field('Property (address)').fill('no address');
      await button('Use this form').click();
      await said('“no address” is not the address of a property.');
      await button('Remove field 1').click();
      await button('Use this form').click();
      await said('The form has no field. Add at least one.');
      await button('Cancel').click();
      expect(await resources.text('lakes-form.ttl')).to.contain('Dataset');
    });

    it('opens a file with shapes that was not made here as Turtle only', async () => {
      await console.go(page, `shapes?${at('things/')}`);
      await link('/things.ttl').waitFor();
      await button('Stop using /things.ttl').waitFor();
      expect(await page.getByRole('button', { name: /^Edit the form/ }).count()).to.equal(0);
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });

describeInBrowser('The console of a storage without shapes', () => {
  const console = new Console();
  before(() => console.start({ path: '', settings: { 'shapes.enabled': 'false' } }));
  after(() => console.stop());

  it('shows nothing of shapes', async () => {
    const resources = new ConsoleResources(console);
    await resources.put('ada.ttl', 'text/turtle', '<#it> <#is> 1 .');
    const page = await console.owner();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.getByRole('link', { name: 'ada.ttl' }).click();
    await page.getByRole('tab', { name: 'Data', exact: true }).waitFor();
    await console.go(page, 'browse');
    expect(await page.locator('shape-actions').count()).to.equal(0);
    expect(requests.filter((url) => /shape|violations/i.test(url))).to.deep.equal([]);
    await console.go(page, `shapes?${new URLSearchParams({ at: console.server.root })}`);
    await page.getByText('This storage has no shapes (lws.shapes.enabled is off).').waitFor();
  });
});
