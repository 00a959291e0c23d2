/** HTML that everybody may read, in a browser: it is shown, and nothing of it runs or loads (rule 7.5). */
import { expect } from 'chai';
import { Console, describeInBrowser } from '../support/browser.js';
import { request } from '../support/http.js';

const page = (at: string): string => `<!doctype html><title>Rivers</title>
<meta http-equiv="refresh" content="1; url=${at}ran-refresh">
<script>document.title = 'ran'; location = '${at}ran-script'</script>
<script src="${at}ran-source"></script>
<link rel="stylesheet" href="${at}ran-style"><style>h1 { display: none }</style>
<body onload="document.title = 'ran'; fetch('${at}ran-fetch')">
<h1>Levels of rivers</h1>
<img src="${at}ran-image" onerror="document.title = 'ran'">
<iframe src="${at}ran-frame"></iframe><object data="${at}ran-object"></object>
<form action="${at}ran-form" method="post"><button>Send</button></form>
<a href="javascript:document.title='ran'">Run</a> <a href="${at}data.csv">Data</a>`;

describeInBrowser('A published page', () => {
  const console = new Console();
  before(() => console.start({ settings: { 'public-read': 'true' } }));
  after(() => console.stop());

  it('is shown, and runs no scripts, loads nothing and sends no forms (rule 7.5)', async () => {
    const { root, ownerToken } = console.server;
    const headers = { Authorization: `Bearer ${ownerToken}` };
    const put = (name: string, type: string, body: string) =>
      request(root + name, { method: 'PUT', headers: { ...headers, 'Content-Type': type }, body });
    expect((await put('rivers.html', 'text/html', page(root))).status).to.equal(201);
    expect((await put('data.csv', 'text/csv', 'river,level\n')).status).to.equal(201);
    const visitor = await console.person();
    const requested: string[] = [];
    // Those that the policy blocks have no response.
    visitor.on('response', (each) => requested.push(each.url()));
    await visitor.goto(`${root}rivers.html`);
    await visitor.getByRole('heading', { name: 'Levels of rivers' }).waitFor();
    await visitor.getByRole('button', { name: 'Send' }).click();
    await visitor.getByText('Run').click();
    // More than the second of the refresh.
    await visitor.waitForTimeout(2_500);
    expect(await visitor.title()).to.equal('Rivers');
    expect(requested.filter((url) => url.includes('/ran-'))).to.deep.equal([]);
    expect(visitor.url()).to.equal(`${root}rivers.html`);
  });
});
