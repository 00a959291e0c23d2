#!/usr/bin/env node
/** The executable. */
import { main } from '../lib/server/cli.js';
import { standardComponents } from './index.js';

const code = await main(process.argv.slice(2), standardComponents);
// Streams of workers and timers must not keep a stopped server alive. Output is flushed on exit.
process.exit(code);
