/** Views of a result, and its initial view. */
import { coordinatesIn } from './coordinates.js';
import { plotOf, scaleOf } from './plot.js';
import type { QueryAnswer, ResultView, TableAnswer } from './run.js';
import { plainText } from './terms.js';

/** Maximum count of bars, and of triples, with which a result opens as a picture. */
const [maxBars, maxTriples] = [40, 150];

export function viewsOf(answer: QueryAnswer): readonly ResultView[] {
  if (answer.kind === 'plan') return ['plan', 'raw'];
  if (answer.kind === 'boolean') return ['table', 'raw'];
  const map = coordinatesIn(answer) ? (['map'] as const) : [];
  const chart = answer.kind === 'rows' && plotOf(answer) ? (['chart'] as const) : [];
  const graph = answer.kind === 'graph' ? (['graph'] as const) : [];
  return ['table', ...map, ...chart, ...graph, 'raw'];
}

export function bestView(answer: QueryAnswer): ResultView {
  if (answer.kind === 'plan') return 'plan';
  if (answer.kind === 'boolean' || answer.rows.length === 0) return 'table';
  if (coordinatesIn(answer)?.areMany) return 'map';
  if (answer.kind === 'graph') return answer.rows.length <= maxTriples ? 'graph' : 'table';
  return isSeries(answer) ? 'chart' : 'table';
}

/** True for numbers by time, or by a column of distinct names. */
function isSeries(answer: TableAnswer): boolean {
  const { columns, rows } = answer;
  const scales = columns.map((_, index) => scaleOf(answer, index));
  const x = scales.findIndex((scale) => scale !== 'number');
  if (rows.length < 2 || columns.length < 2 || x < 0 || scales.some((scale, at) => at !== x && scale !== 'number'))
    return false;
  if (scales[x] === 'time') return true;
  return rows.length <= maxBars && new Set(rows.map((row) => plainText(row[x]))).size === rows.length;
}
