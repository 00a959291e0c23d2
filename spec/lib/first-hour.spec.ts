/** The walkthrough of docs/first-hour.md: all commands of the page, in one shell, with the outputs that it shows. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { patience } from '../support/patience.js';
import { startProcess } from '../support/process.js';
import { isSharedRun } from '../support/shared-storage.js';

interface Step {
  readonly commands: string;
  /** Parts of the output, in order. */
  readonly shown: readonly string[];
}

/** Blocks of commands, each with the output that follows it. */
function stepsOf(page: string): readonly Step[] {
  const blocks = [...page.matchAll(/^```(sh)?\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language, commands], at) => {
    if (language !== 'sh') return [];
    const next = blocks[at + 1];
    return { commands: commands!, shown: next && !next[1] ? next[2]!.trim().split('\n') : [] };
  });
}

describe('The first hour', () => {
  it('works as written, and prints what the page shows', async function () {
    // The commands run without the settings of a shared storage.
    if (isSharedRun) return this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-first-hour-'));
    const environment = {
      ...{ LWS_TEXT_SEARCH_ENABLED: 'true', LWS_SHAPES_ENABLED: 'true', LWS_DEV_OPEN: 'false' },
      LWS_DATA_DIR: join(folder, 'lws-data'),
    };
    const server = await startProcess({ environment, dataDir: environment.LWS_DATA_DIR });
    try {
      const base = server.root.slice(0, -1);
      const placed = (text: string): string => text.replaceAll('http://localhost:8080', base);
      const steps = stepsOf(readFileSync(join(packageRoot, 'docs/first-hour.md'), 'utf8'));
      expect(steps.length).to.be.above(6);
      const mark = (at: number): string => `@@@ step ${at} @@@`;
      const program = join(packageRoot, 'dist/components/main.js');
      const script = steps
        .map(({ commands }, at) => `echo '${mark(at)}'\n${placed(commands)}`)
        .join('\n')
        .replaceAll('npx quadpod ', `"${process.execPath}" "${program}" `);
      const [, token] = /TOKEN='?([\w.-]+)/.exec(server.output.stderr)!;
      const output = execFileSync('bash', ['-e', '-c', `exec 2>&1\n${script}`], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 60_000 * patience,
        env: { ...process.env, ...environment, LWS_BASE_URI: base, TOKEN: token },
      });
      steps.forEach(({ shown }, at) => {
        let rest = output.slice(
          output.indexOf(mark(at)),
          at + 1 < steps.length ? output.indexOf(mark(at + 1)) : undefined,
        );
        for (const part of shown.map(placed)) {
          expect(rest).to.contain(part);
          rest = rest.slice(rest.indexOf(part) + part.length);
        }
      });
      expect(output).to.match(/lakes-backup has the state of/);
      const absent = await fetch(`${base}/lakes/more`, { headers: { Authorization: `Bearer ${token}` } });
      expect(absent.status).to.equal(404);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  }).timeout(90_000);
});
