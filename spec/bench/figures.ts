/** Figures in the output of benchmarks: tables, and sentences with units. */

export interface Figure {
  readonly value: number;
  /** True if higher is better. */
  readonly isRate: boolean;
}
export type Figures = Readonly<Record<string, Figure>>;

const [number, unit] = [String.raw`-?\d{1,3}(?: \d{3})+(?:\.\d+)?\b|-?\d+(?:\.\d+)?`, 'per second|ms|us|s|MiB|MB'];
const cell = new RegExp(`^(?:${number})$`);
const inText = new RegExp(`(?<![\\w.])(p\\d\\d |max |ratios?:? )?(${number})(?!\\w)(?: (${unit})\\b)?`, 'g');
/** Columns that are compared. Others are about the data or about other servers. */
const measured = new RegExp(`\\b(?:${unit}|CPU|ratio|p50|p99|ours|to Oxigraph)\\b`);

/**
 * Reads the figures of an output. The name of a figure is that of its row and column, or the text of its line. Of several figures
 * with one name, for example those of several rounds, the best counts.
 */
export function readFigures(output: string): Figures {
  const figures: Record<string, Figure> = {};
  const add = (name: string, text: string, isRate: boolean): void => {
    const [value, before] = [Number(text.replaceAll(' ', '')), figures[name]?.value];
    if (before === undefined || (isRate ? value > before : value < before)) figures[name] = { value, isRate };
  };
  let [title, columns]: [string, readonly string[]] = ['', []];
  for (const line of output.split('\n').map((each) => each.trim())) {
    const cells = line.startsWith('|') ? line.split('|').map((each) => each.trim()) : [];
    if (cells.length === 0) {
      const name = line.replace(inText, (_all, before = '', _value, after) => `${before}#${after ? ` ${after}` : ''}`);
      for (const [at, [, before, value, after]] of [...line.matchAll(inText)].entries())
        if (before ?? after) add(`${name} [${at + 1}]`, value!, after === 'per second');
      [title, columns] = [line.replace(/[,:|].*/, ''), []];
    } else if (columns.length === 0) columns = cells;
    else
      for (const [at, each] of cells.entries())
        if (cell.test(each) && measured.test(columns[at]!))
          add(`${title} | ${cells[1]} | ${columns[at]}`, each, columns[at]!.includes('per second'));
  }
  return figures;
}

/** Returns the better of each figure of several runs. */
export function bestOf(runs: readonly Figures[]): Figures {
  const best: Record<string, Figure> = {};
  for (const [name, figure] of runs.flatMap((run) => Object.entries(run)))
    best[name] = best[name] && worsening(figure, best[name]) > 1 ? best[name] : figure;
  return best;
}

/** Returns how many times worse a figure is than an earlier one: 1 if they are equal, more if it is worse. */
export const worsening = ({ value, isRate }: Figure, before: Figure): number =>
  value === before.value ? 1 : isRate ? before.value / value : value / before.value;
