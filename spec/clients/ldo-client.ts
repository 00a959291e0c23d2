/** LDO (Linked Data Objects): its resources, their access and their notifications. */
import { createSolidLdoDataset, type SolidContainer, type SolidLeaf } from '@ldo/connected-solid';
import { DataFactory, Store } from 'n3';
import { type Journey, must, mustFail } from './journey.js';

const { namedNode, literal, quad } = DataFactory;
const name = namedNode('http://xmlns.com/foaf/0.1/name');
const saying = (document: string, text: string) =>
  new Store([quad(namedNode(`${document}#me`), name, literal(text), namedNode(document))]) as never;

/** What its results are: an error is one by a member. */
async function done<T extends { readonly isError: boolean }>(work: Promise<T>): Promise<T> {
  const result = await work;
  if (result.isError)
    throw new Error(`${(result as { type?: string }).type}: ${(result as { message?: string }).message}`);
  return result;
}

const opened = (fetch: typeof globalThis.fetch) => {
  const dataset = createSolidLdoDataset();
  dataset.setContext('solid', { fetch });
  const leaf = (iri: string): SolidLeaf => dataset.getResource(iri as never) as SolidLeaf;
  return { dataset, leaf, container: (iri: string): SolidContainer => dataset.getResource(iri as never) as never };
};

const nothing = { read: false, append: false, write: false, control: false };
const everything = { read: true, append: true, write: true, control: true };

export const ldo: Journey = {
  async create({ container, fetch, strangers }) {
    const { leaf, container: containerOf } = opened(fetch);
    await done(containerOf(container).createIfAbsent());
    const ada = leaf(`${container}ada.ttl`);
    await done(ada.createIfAbsent());
    await done(ada.update({ added: saying(ada.uri, 'Ada') }));
    await done(leaf(`${container}photo.png`).uploadIfAbsent(new Blob(['x'], { type: 'image/png' }), 'image/png'));
    // Below a container that is not there yet.
    await done(leaf(`${container}deep/bob.ttl`).update({ added: saying(`${container}deep/bob.ttl`, 'Bob') }));
    await mustFail(done(opened(strangers).leaf(`${container}theirs.ttl`).createIfAbsent()), 'what a stranger creates');
  },
  async read({ root, container, fetch, strangers }) {
    const { dataset, leaf } = opened(fetch);
    const ada = leaf(`${container}ada.ttl`);
    await done(ada.read());
    must(dataset.match(null, name, literal('Ada')).size === 1, 'the name is read');
    const top = await ada.getRootContainer();
    must(!top.isError && (top as SolidContainer).uri === root, 'the storage is found');
    await done(leaf(`${container}absent.ttl`).read());
    must(leaf(`${container}absent.ttl`).isAbsent() === true, 'what is absent is known to be');
    await mustFail(done(opened(strangers).leaf(ada.uri).read()), 'what a stranger reads');
  },
  async list({ container, fetch }) {
    const all = opened(fetch).container(container);
    await done(all.read());
    const members = all.children().map(({ uri }) => uri.slice(container.length));
    must(members.sort().join() === 'ada.ttl,deep/,photo.png', `the members are listed: ${members}`);
  },
  async change({ container, fetch, strangers }) {
    const ada = opened(fetch).leaf(`${container}ada.ttl`);
    await done(ada.read());
    await done(ada.update({ removed: saying(ada.uri, 'Ada'), added: saying(ada.uri, 'Countess') }));
    must((await (await fetch(ada.uri)).text()).includes('Countess'), 'the change is there');
    const theirs = opened(strangers)
      .leaf(ada.uri)
      .update({ added: saying(ada.uri, 'Eve') });
    await mustFail(done(theirs), 'what a stranger changes');
  },
  async share({ container, owner, fetch, strangers }) {
    const ada = opened(fetch).leaf(`${container}ada.ttl`);
    const read = () => done(opened(strangers).leaf(ada.uri).read());
    const share = (open: object) =>
      done(ada.setWac({ agent: { [owner]: everything }, public: { ...nothing, ...open }, authenticated: nothing }));
    await share({ read: true });
    await read();
    // Again: the list is there now.
    await share({});
    await mustFail(read(), 'what is no longer shared');
    const { wacRule } = (await done(ada.getWac({ ignoreCache: true }))) as { wacRule?: { agent: object } };
    must(Object.keys(wacRule?.agent ?? {}).join() === owner, 'the list is read back');
    const theirs = opened(strangers).leaf(ada.uri).setWac({ agent: {}, public: everything, authenticated: everything });
    await mustFail(done(theirs), 'a list that a stranger writes');
  },
  async 'hear of changes'({ container, fetch }) {
    const ada = opened(fetch).leaf(`${container}ada.ttl`);
    await done(ada.read());
    const heard = new Promise<void>((resolve, reject) => {
      const onNotificationError = (error: Error): void => reject(error);
      void ada.subscribeToNotifications({ onNotification: () => resolve(), onNotificationError }).catch(reject);
    });
    // The socket may open after the subscription was answered.
    let isOver = false;
    const writing = (async () => {
      for (let time = 0; !isOver && time < 40; time++) {
        await done(
          opened(fetch)
            .leaf(ada.uri)
            .update({ added: saying(ada.uri, `heard ${time}`) }),
        );
        await new Promise((again) => setTimeout(again, 250));
      }
      must(isOver, 'a change is heard of');
    })();
    await Promise.race([heard, writing]);
    isOver = true;
    await writing;
    await ada.unsubscribeFromAllNotifications();
  },
  /** It takes 205 alone for a success, and is answered with 204 (rule 6.19). */
  async 'delete, which it reports as an error'({ container, fetch, strangers }) {
    await mustFail(done(opened(strangers).leaf(`${container}ada.ttl`).delete()), 'what a stranger deletes');
    must((await fetch(`${container}ada.ttl`)).status === 200, 'it is there still');
    const { message } = (await opened(fetch).leaf(`${container}ada.ttl`).delete()) as { message?: string };
    must(/returned 204/.test(message ?? ''), `its report: ${message}`);
    must((await fetch(`${container}ada.ttl`)).status === 404, 'it is gone');
  },
};
