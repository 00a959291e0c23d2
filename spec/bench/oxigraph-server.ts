/**
 * Oxigraph in memory behind a minimal HTTP server, for `endpoints`: `node oxigraph-server.js FILE PORT`. The default graph is the
 * union of all graphs.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Store } from 'oxigraph';

const [file, port] = process.argv.slice(2);
const store = new Store();
store.load(readFileSync(file!, 'utf8'), { format: 'application/n-quads', no_transaction: true } as never);

createServer((req, res) => {
  let body = '';
  req.setEncoding('utf8');
  req.on('data', (part: string) => {
    body += part;
  });
  req.on('end', () => {
    const query = new URLSearchParams(body).get('query') ?? '';
    try {
      const answer = store.query(query, {
        use_default_graph_as_union: true,
        results_format: 'application/sparql-results+json',
      } as never) as string;
      res.writeHead(200, { 'Content-Type': 'application/sparql-results+json' }).end(answer);
    } catch (error) {
      res.writeHead(400).end(String(error));
    }
  });
}).listen(Number(port), '127.0.0.1');
