/**
 * `npm run report`: runs all specs and writes `report/earl.ttl` (EARL 1.0), `report/index.html`, and the tables of
 * `docs/conformance.md`: W3C suites, Solid specification tests, and rules of the service with the specs that cite them.
 * `npm run report -- FILE` reads recorded results (`recorder.mjs`) instead of running the specs.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const project = repository.url.replace(/^git\+|\.git$/g, '');
const source = `${project}/blob/v${version}`;

const data = 'http://www.w3.org/2001/sw/DataAccess/tests/data-r2';
const sparql11 = 'http://www.w3.org/2009/sparql/docs/tests/data-sparql11';
const sparql12 = 'https://w3c.github.io/rdf-tests/sparql/sparql12';
const rdf11 = 'https://w3c.github.io/rdf-tests/rdf/rdf11';
const [readers, queries] = ['W3C suites of RDF 1.1, RDF 1.2 and JSON-LD 1.1', 'W3C SPARQL tests'];
/** Returns the IRI of a test by its manifest and the part of its id after `#`. */
const inManifest = (manifest) => (id) => `${manifest}#${id.slice(id.indexOf('#') + 1)}`;
const inFolders = (base, ids) => (id) => id.replace(ids, `${base}/`).replace('#', '/manifest#');

/** Suites by title of their describe block and beginning of their ids. Solid's tests are restated: they have no ids. */
const suites = [
  ...[
    ['RDF 1.1 Turtle', 'rdf-turtle'],
    ['RDF 1.1 N-Triples', 'rdf-n-triples'],
    ['RDF 1.1 N-Quads', 'rdf-n-quads'],
    ['RDF 1.1 TriG', 'rdf-trig'],
    ['RDF 1.1 XML Syntax', 'rdf-xml'],
  ].map(([name, folder]) => ({
    name,
    of: readers,
    ids: new RegExp(`^${folder}#`),
    iri: inManifest(`${rdf11}/${folder}/manifest.ttl`),
  })),
  ...[
    ['RDF 1.2 Turtle', 'rdf-turtle'],
    ['RDF 1.2 N-Triples', 'rdf-n-triples'],
    ['RDF 1.2 N-Quads', 'rdf-n-quads'],
    ['RDF 1.2 TriG', 'rdf-trig'],
    ['RDF 1.2 XML Syntax', 'rdf-xml'],
  ].map(([name, folder]) => ({
    name,
    of: readers,
    ids: new RegExp(`^rdf12/${folder}/`),
    iri: (id) => `https://w3c.github.io/rdf-tests/rdf/${id}`,
  })),
  {
    name: 'JSON-LD 1.1 toRdf',
    of: readers,
    ids: /^toRdf#/,
    iri: inManifest('https://w3c.github.io/json-ld-api/tests/toRdf-manifest'),
  },
  { name: 'SPARQL 1.0 Query', of: queries, ids: /^data-r2\//, iri: inFolders(data, /^data-r2\//) },
  { name: 'SPARQL 1.1 Query', of: queries, ids: /^data-sparql11\//, iri: inFolders(sparql11, /^data-sparql11\//) },
  {
    name: 'SPARQL 1.1 Update',
    of: 'W3C SPARQL Update tests',
    ids: /^(?!.*triple-terms).*#/,
    iri: inFolders(sparql11, /^/),
  },
  { name: 'SPARQL 1.2 Query', of: queries, ids: /^data-sparql12\//, iri: inFolders(sparql12, /^data-sparql12\//) },
  { name: 'SPARQL 1.2 Update', of: 'W3C SPARQL Update tests', ids: /triple-terms.*#/, iri: inFolders(sparql12, /^/) },
  {
    name: 'SPARQL 1.1 Protocol',
    of: 'W3C SPARQL Protocol tests',
    ids: /^\w+$/,
    iri: (id) => `${sparql11}/protocol/manifest#${id}`,
  },
  {
    name: 'SHACL Core',
    of: 'W3C tests of SHACL Core',
    ids: /\//,
    iri: (id) => `https://w3c.github.io/data-shapes/data-shapes-test-suite/tests/core/${id}`,
  },
  ...['Solid Protocol', 'Access'].map((name) => ({
    name: name === 'Access' ? 'Web Access Control (Solid)' : name,
    of: `${name} under the Solid profile`,
    iri: (title) =>
      `${source}/spec/clients/solid-${name === 'Access' ? 'access' : 'protocol'}.spec.ts#${encodeURIComponent(title)}`,
  })),
];

/** Deviations have a reason at the end, or, in the suites without numbers, the rule of the service. */
const titles = /^(?:(?<id>[\w./-]+(?:#\S+)?): )?(?<name>.*?)(?: \[fails: (?<reason>.*)\])?$/s;

function resultsOf(suite, results) {
  return results.flatMap(({ titles: [of, title], passed }) => {
    if (of !== suite.of || title === undefined) return [];
    if (!suite.ids) {
      const reason = /^(?!\d).* \((rule \d+\.\d+)\)$/.exec(title)?.[1];
      return [{ iri: suite.iri(title), name: title, reason, passed: passed && reason === undefined }];
    }
    const { id, name, reason } = titles.exec(title).groups;
    if (id === undefined || !suite.ids.test(id)) return [];
    return [{ iri: suite.iri(id), name, reason, passed: passed && reason === undefined }];
  });
}

/** Rules by number, with the specs that cite them in a title or in the comment at the beginning of their file. */
function rulesOf(results) {
  const cited = (text) =>
    [...text.matchAll(/\brules? (\d+\.\d+(?:, \d+\.\d+)*)/gi)].flatMap(([, all]) => all.split(', '));
  const headers = new Map();
  const ofFile = (file) => {
    if (!headers.has(file)) {
      const text = readFileSync(join('spec', file.replace(/\.js$/, '.ts')), 'utf8');
      headers.set(file, cited(/^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? ''));
    }
    return headers.get(file);
  };
  const specs = new Map();
  for (const { file, titles: path, passed } of results) {
    const inTitles = cited(path.join(' '));
    for (const rule of new Set(inTitles.length > 0 ? inTitles : ofFile(file))) {
      const all = specs.get(rule) ?? [];
      specs.set(rule, [...all, { file, title: path.join(' '), passed }]);
    }
  }
  return [...readFileSync('docs/rules.md', 'utf8').matchAll(/^- \*\*(\d+\.\d+)\*\* (.*)$/gm)].map(
    ([, number, text]) => {
      const own = specs.get(number) ?? [];
      const passed = own.length > 0 && own.every((spec) => spec.passed);
      return { iri: `${source}/docs/rules.md#${number}`, name: `${number} ${text}`, number, specs: own, passed };
    },
  );
}

const quoted = (text) => JSON.stringify(text);
const date = new Date().toISOString();

const assertion = ({ iri, name, reason, passed }) => `
<${iri}> a earl:TestCriterion ; dct:title ${quoted(name)} .
[] a earl:Assertion ; earl:assertedBy <${project}> ; earl:subject <${project}> ; earl:test <${iri}> ; earl:mode earl:automatic ;
  earl:result [ a earl:TestResult ; dct:date "${date}"^^xsd:dateTime ; earl:outcome earl:${passed ? 'passed' : 'failed'}${
    reason === undefined ? '' : ` ; earl:info ${quoted(reason)}`
  } ] .`;

const turtle = (assertions) => `@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<${project}> a earl:Software, earl:TestSubject, earl:Assertor, doap:Project ; doap:name "Quadpod" ;
  doap:homepage <${project}> ; doap:release [ doap:revision "${version}" ] .
${assertions.map(assertion).join('\n')}
`;

const byReason = (tests) => {
  const counts = new Map();
  for (const { passed, reason } of tests)
    if (!passed) counts.set(reason ?? 'defect', (counts.get(reason ?? 'defect') ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count}: ${reason.replaceAll('|', '\\|')}`);
};

/** Rows of the table of suites. */
const rowsOf = (done, of) =>
  done.map(({ name, tests }) => [name, of, tests.filter((test) => test.passed).length, byReason(tests)]);

const markdown = (rows) =>
  [
    '| suite | version | passed | not passed |',
    '|---|---|---|---|',
    ...rows.map(
      ([name, of, passed, others]) => `| ${name} | ${of(name)} | ${passed} | ${others.join('<br>') || 'none'} |`,
    ),
  ].join('\n');

const escaped = (text) => String(text).replace(/[&<>]/g, (each) => `&#${each.charCodeAt(0)};`);
const tableOf = (head, rows) =>
  `<table><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell).replaceAll('\n', '<br>')}</td>`).join('')}</tr>`)
    .join('\n')}</table>`;

const page = (
  rows,
  rules,
) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Quadpod ${version}: conformance</title>
<style>body{font:16px/1.5 sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}
td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}</style>
<h1>Quadpod ${version}: conformance</h1><p>${date}. Each test is an assertion in <a href="earl.ttl">earl.ttl</a> (EARL 1.0).</p>
<h2>Suites</h2>${tableOf(
  ['Suite', 'Version', 'Passed', 'Not passed'],
  rows.map(([name, of, passed, others]) => [name, of(name), passed, others.join('\n')]),
)}
<h2>Rules of the service</h2>${tableOf(
  ['Rule', 'Outcome', 'Specs'],
  rules.map(({ name, passed, specs }) => [
    name,
    passed ? 'passed' : 'failed',
    specs.map(({ title }) => title).join('\n'),
  ]),
)}</html>`;

/** Runs all specs and returns the file with their results. */
function record() {
  const file = join(mkdtempSync(join(tmpdir(), 'quadpod-report-')), 'results.jsonl');
  const { status } = spawnSync(process.execPath, ['spec/run.mjs', 'all'], {
    stdio: 'inherit',
    env: { ...process.env, QUADPOD_RESULTS: file },
  });
  process.exitCode = status ?? 1;
  return file;
}

if (!process.env.W3C_TESTS) {
  console.error('Set W3C_TESTS to a directory with the current suites (spec/w3c/data/README.md).');
  process.exit(2);
}
const results = readFileSync(process.argv[2] ?? record(), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const done = suites.map((suite) => ({ ...suite, tests: resultsOf(suite, results) }));
const rules = rulesOf(results);
const missing = done.filter(({ tests }) => tests.length === 0).map(({ name }) => name);
if (missing.length > 0) throw new Error(`No results of ${missing.join(', ')}.`);
/** Commits of the suites: of w3c/rdf-tests, w3c/json-ld-api and w3c/data-shapes. */
const [rdfTests, jsonLdTests = rdfTests, shapesTests = rdfTests] = (process.env.W3C_TESTS_VERSION ?? 'current').split(
  ', ',
);
const versionOf = (name) => {
  if (name.includes('Solid')) return 'restated in `spec/clients`';
  if (name.startsWith('SHACL')) return shapesTests;
  return name.startsWith('JSON-LD') ? jsonLdTests : rdfTests;
};
const rows = rowsOf(done, versionOf);
mkdirSync('report', { recursive: true });
writeFileSync('report/earl.ttl', turtle([...done.flatMap(({ tests }) => tests), ...rules]));
writeFileSync('report/index.html', page(rows, rules));
const document = readFileSync('docs/conformance.md', 'utf8');
const failed = rules.filter(({ passed }) => !passed).map(({ number }) => number);
const ofRules = `${rules.length} rules, cited by ${rules.reduce((sum, { specs }) => sum + specs.length, 0)} specs: ${
  failed.length === 0 ? 'all pass' : `rules ${failed.join(', ')} fail`
}.`;
writeFileSync(
  'docs/conformance.md',
  document
    .replace(/(<!-- suites -->\n\n)[\s\S]*?(\n\n<!-- end -->)/, (_all, begin, end) => begin + markdown(rows) + end)
    .replace(/(<!-- rules -->\n\n)[\s\S]*?(\n\n<!-- end -->)/, (_all, begin, end) => begin + ofRules + end),
);
console.log(`report/earl.ttl, report/index.html and docs/conformance.md are written. ${ofRules}`);
