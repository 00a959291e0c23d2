/** The log on standard output. */
import { spawn } from 'node:child_process';
import { expect } from 'chai';

const log = new URL('../../../lib/tools/log.js', import.meta.url).href;

describe('Log', () => {
  it('writes lines of level error and above at once, after the preceding lines', async () => {
    // The main thread blocks after the last line, so no timer of the log fires.
    const program = `
      import { createLog } from ${JSON.stringify(log)};
      const log = createLog('info');
      for (const level of ['info', 'error', 'info', 'fatal']) log[level](level);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    try {
      for await (const chunk of child.stdout) {
        text += String(chunk);
        if (text.includes('"msg":"error"')) break;
      }
    } finally {
      child.kill('SIGKILL');
    }
    const lines = text.trim().split('\n');
    expect(lines.slice(0, 2).map((line) => JSON.parse(line).msg)).to.deep.equal(['info', 'error']);
  });
});
