/** Root hook of mocha: appends the result of each spec to the file in `QUADPOD_RESULTS`, as JSON lines for `report.mjs`. */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../dist/spec/', import.meta.url));

export const mochaHooks = {
  afterEach() {
    const { file, state } = this.currentTest;
    const result = { file: relative(built, file), titles: this.currentTest.titlePath(), passed: state === 'passed' };
    appendFileSync(process.env.QUADPOD_RESULTS, `${JSON.stringify(result)}\n`);
  },
};
