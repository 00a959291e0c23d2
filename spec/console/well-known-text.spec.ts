/** Console: places of query results, from well-known text, columns and triples. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildSync } from 'esbuild';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

interface Shape {
  readonly form: string;
  readonly paths: readonly (readonly (readonly number[])[])[];
}
interface Term {
  readonly kind: 'iri' | 'blank' | 'literal';
  readonly value: string;
  readonly language: string;
  readonly datatype: string;
}
interface Result {
  readonly kind: 'rows' | 'graph';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (Term | undefined)[])[];
}
interface Modules {
  parseWkt(text: string): readonly Shape[];
  coordinatesIn(result: Result): { coordinates: unknown; areMany: boolean } | undefined;
  placesOf(
    result: Result,
    coordinates: unknown,
  ): { list: { name?: Term; shape: Shape }[]; wrong: number; isCut: boolean };
}

/** Bundles the modules as for browsers, in a format that Node.js can load. */
function load(): Modules {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-places-'));
  const outfile = join(folder, 'places.cjs');
  const contents = ['wkt', 'coordinates', 'places'].map((name) => `export * from './${name}.js';`).join('\n');
  try {
    const stdin = { contents, resolveDir: join(packageRoot, 'console/src/ask') };
    buildSync({ stdin, outfile, bundle: true, format: 'cjs', platform: 'node', logLevel: 'error' });
    return createRequire(import.meta.url)(outfile) as Modules;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const geosparql = 'http://www.opengis.net/ont/geosparql#';
const wgs84 = 'http://www.w3.org/2003/01/geo/wgs84_pos#';
const iri = (value: string): Term => ({ kind: 'iri', value, language: '', datatype: '' });
const text = (value: string, datatype = ''): Term => ({ kind: 'literal', value, language: '', datatype });
const wkt = (value: string): Term => text(value, `${geosparql}wktLiteral`);

describe('The console, places of results', () => {
  const { parseWkt, coordinatesIn, placesOf } = load();
  const places = (result: Result) => placesOf(result, coordinatesIn(result)!.coordinates);
  const points = (result: Result) =>
    places(result).list.map(({ name, shape }) => [name?.value, ...shape.paths[0]![0]!]);

  it('reads points, lines and areas, with height, measure and reference system', () => {
    const ring = [
      [0, 0],
      [4, 0],
      [4, 4],
      [0, 0],
    ];
    const hole = ring.map(([x, y]) => [x! / 4 + 1, y! / 8 + 0.5]);
    const [written, writtenHole] = [ring, hole].map((each) => `(${each.map((at) => at.join(' ')).join(',')})`);
    const expected: Readonly<Record<string, readonly [string, unknown]>> = {
      'POINT(16.37 48.2)': ['points', [[[16.37, 48.2]]]],
      ' point \n Z ( -1e1  +.5  300 ) ': ['points', [[[-10, 0.5]]]],
      'POINT ZM (1 2 3 4)': ['points', [[[1, 2]]]],
      'POINTZ(1 2 3)': ['points', [[[1, 2]]]],
      'PointZM (1 2 3 4)': ['points', [[[1, 2]]]],
      'SRID=4326;POINT(16 48)': ['points', [[[16, 48]]]],
      'GEOMETRYCOLLECTION(POINT(1 2))': ['points', [[[1, 2]]]],
      '<http://www.opengis.net/def/crs/OGC/1.3/CRS84> Point(1 2)': ['points', [[[1, 2]]]],
      '<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(48 16)': ['points', [[[16, 48]]]],
      'MULTIPOINT((1 2), (3 4))': [
        'points',
        [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      ],
      'MULTIPOINT(1 2, 3 4)': [
        'points',
        [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      ],
      'LineString M (1 2 9, 3 4 9)': [
        'lines',
        [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      ],
      'MULTILINESTRING((1 2,3 4),(5 6,7 8))': [
        'lines',
        [
          [
            [1, 2],
            [3, 4],
          ],
          [
            [5, 6],
            [7, 8],
          ],
        ],
      ],
      [`POLYGON(${written}, ${writtenHole})`]: ['areas', [ring, hole]],
      [`MULTIPOLYGON((${written},${writtenHole}),(${written}))`]: ['areas', [ring, hole, ring]],
    };
    for (const [literal, [form, paths]] of Object.entries(expected))
      expect(parseWkt(literal), literal).to.deep.equal([{ form, paths }]);
    const several =
      '<http://www.opengis.net/def/crs/EPSG/0/4326> GeometryCollection Z (POINT Z (48 16 1), POLYGON((0 0, 1 0, 1 1, 0 0)))';
    expect(parseWkt(several).map(({ form, paths }) => [form, paths[0]![0]])).to.deep.equal([
      ['points', [16, 48]],
      ['areas', [0, 0]],
    ]);
  });

  it('rejects invalid text, other geometries and reference systems, and positions out of range', () => {
    const wrong = [
      ...['', 'POINT', 'POINT()', 'POINT EMPTY', 'POINT(1)', 'POINT(1 x)', 'POINT(1 2', 'POINT 1 2)', 'POINT(1 2))'],
      ...['POINT(1 2) x', 'POINT(1 2, 3 4)', 'POINT((1 2))', 'POINT(1 2 3 4 5)', 'POINT(1 NaN)', 'POINT(1 Infinity)'],
      ...['POLYGON(1 2, 3 4)', 'LINESTRING((1 2))', 'MULTIPOLYGON((1 2))', 'MULTIPOINT(1, 2)', 'POINT(1,2)'],
      ...[
        'CIRCULARSTRING(0 0, 1 1, 2 0)',
        'GEOMETRYCOLLECTION(POINT(1 2), POINT(1))',
        'SRID=3857;POINT(1 2)',
        'POINT(181 0)',
        'POINT(0 -90.1)',
      ],
      ...[
        '<http://www.opengis.net/def/crs/EPSG/0/3857> POINT(1 2)',
        '<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(91 0)',
      ],
      ...[
        'POLYGON((0 0, 1 1], [2 2, 0 0))',
        'POINT(null null)',
        `POINT${'('.repeat(100_000)}`,
        `POINT(${' '.repeat(2_000_001)}1 2)`,
      ],
    ];
    for (const literal of wrong) expect(parseWkt(literal), literal.slice(0, 80)).to.deep.equal([]);
  });

  it('parses hostile text in linear time', () => {
    for (const part of [' ', '(', '1 ', 'POINT', '<', '((1 2),', 'M ', 'POINT(1 2),', '),'])
      for (const start of ['POINT(', '<', 'MULTIPOLYGON((', 'POINT ', 'GEOMETRYCOLLECTION('])
        expect(parseWkt(start + part.repeat(1_900_000 / part.length)), start + part).to.deep.equal([]);
  }).timeout(20_000);

  it('finds columns of degrees, also as strings, and counts rows that are wrong', () => {
    const rows = [
      [text('48.2'), iri('urn:vienna'), text('16.37', 'http://www.w3.org/2001/XMLSchema#decimal')],
      [text('91'), iri('urn:too-far'), text('0')],
      [text(''), iri('urn:empty'), text('0')],
      [text('north'), iri('urn:word'), text('0')],
      [text('1'), iri('urn:half'), undefined],
      [undefined, iri('urn:none'), undefined],
      [text('-33.9'), undefined, text('151.2')],
    ];
    for (const columns of [
      ['lat', 'x', 'long'],
      ['LATITUDE', 'x', 'lng'],
    ]) {
      const result = { kind: 'rows', columns, rows } as const;
      expect(points(result)).to.deep.equal([
        ['urn:vienna', 16.37, 48.2],
        [undefined, 151.2, -33.9],
      ]);
      expect(places(result).wrong).to.equal(4);
    }
    for (const columns of [
      ['lat', 'x', 'y'],
      ['flat', 'x', 'along'],
    ])
      expect(coordinatesIn({ kind: 'rows', columns, rows })).to.equal(undefined);
  });

  it('finds a column of WKT among mixed terms, and opens with the map only if most rows have coordinates', () => {
    const rows = [[iri('urn:a'), wkt('POINT(1 2)')], [iri('urn:b'), text('POINT(3 4)')], [iri('urn:c')]];
    const result = { kind: 'rows', columns: ['x', 'y'], rows } as const;
    expect(coordinatesIn(result)).to.include({ areMany: false });
    expect(points(result)).to.deep.equal([['urn:a', 1, 2]]);
    expect(places(result).wrong).to.equal(1);
    expect(coordinatesIn({ ...result, rows: rows.slice(0, 2) })).to.include({ areMany: true });
    expect(coordinatesIn({ ...result, rows: rows.slice(1) })).to.equal(undefined);
  });

  it('finds coordinates in triples, and names a geometry by its feature', () => {
    const node: Term = { kind: 'blank', value: 'b', language: '', datatype: '' };
    const rows = [
      [iri('urn:a'), iri(`${wgs84}long`), text('16')],
      [iri('urn:a'), iri(`${wgs84}lat`), text('48')],
      [iri('urn:b'), iri(`${geosparql}hasGeometry`), node],
      [node, iri(`${geosparql}asWKT`), wkt('POINT(1 2)')],
      [iri('urn:c'), iri('http://schema.org/latitude'), text('1')],
    ];
    const result = { kind: 'graph', columns: [], rows } as const;
    expect(points(result)).to.have.deep.members([
      ['urn:b', 1, 2],
      ['urn:a', 16, 48],
    ]);
    expect([places(result).wrong, coordinatesIn(result)!.areMany]).to.deep.equal([1, true]);
  });

  it('draws at most 20 000 places and 200 000 positions, and tells that there are more', () => {
    const line = wkt(`LINESTRING(${Array.from({ length: 50_000 }, (_, at) => `${at % 180} 1`).join(',')})`);
    const of = (count: number, term: Term) =>
      places({ kind: 'rows', columns: ['y'], rows: Array.from({ length: count }, () => [term]) });
    for (const [found, length] of [
      [of(20_001, wkt('POINT(1 2)')), 20_000],
      [of(9, line), 5],
    ] as const)
      expect([found.list.length, found.isCut]).to.deep.equal([length, true]);
    expect(of(20_000, wkt('POINT(1 2)')).isCut).to.equal(false);
  });
});
