/** `@inrupt/solid-client`: documents, files, containers, and access by Web Access Control. */
import * as solid from '@inrupt/solid-client';
import { type Journey, must, mustFail } from './journey.js';

const name = 'http://xmlns.com/foaf/0.1/name';
const alice = 'https://people.example/alice';

export const solidClient: Journey = {
  async create({ container, fetch, strangers }) {
    await solid.createContainerAt(container, { fetch });
    const thing = solid
      .buildThing({ url: `${container}ada#me` })
      .addStringNoLocale(name, 'Ada')
      .build();
    await solid.saveSolidDatasetAt(`${container}ada`, solid.setThing(solid.createSolidDataset(), thing), { fetch });
    await solid.overwriteFile(`${container}note.txt`, new Blob(['hello'], { type: 'text/plain' }), { fetch });
    const other = solid.setThing(solid.createSolidDataset(), thing);
    await mustFail(
      solid.saveSolidDatasetAt(`${container}theirs`, other, { fetch: strangers }),
      'what a stranger creates',
    );
  },
  async read({ container, fetch, strangers }) {
    const data = await solid.getSolidDataset(`${container}ada`, { fetch });
    must(solid.getStringNoLocale(solid.getThing(data, `${container}ada#me`)!, name) === 'Ada', 'the name is read');
    const file = await solid.getFile(`${container}note.txt`, { fetch });
    must((await file.text()) === 'hello', 'the file is read');
    await mustFail(solid.getSolidDataset(`${container}ada`, { fetch: strangers }), 'what a stranger reads');
  },
  async list({ container, fetch }) {
    const urls = solid.getContainedResourceUrlAll(await solid.getSolidDataset(container, { fetch })).sort();
    must(
      JSON.stringify(urls) === JSON.stringify([`${container}ada`, `${container}note.txt`]),
      `both are listed: ${urls}`,
    );
  },
  async change({ container, fetch }) {
    const [first, second] = [
      await solid.getSolidDataset(`${container}ada`, { fetch }),
      await solid.getSolidDataset(`${container}ada`, { fetch }),
    ];
    const named = (data: typeof first, text: string) =>
      solid.setThing(data, solid.setStringNoLocale(solid.getThing(data, `${container}ada#me`)!, name, text));
    await solid.saveSolidDatasetAt(`${container}ada`, named(first, 'Ada Lovelace'), { fetch });
    // The other one was read before: its deletion of a name that is no more there changes nothing of the first one's.
    await solid.saveSolidDatasetAt(`${container}ada`, named(second, 'Countess'), { fetch });
    const now = await solid.getSolidDataset(`${container}ada`, { fetch });
    const names = solid.getStringNoLocaleAll(solid.getThing(now, `${container}ada#me`)!, name).sort();
    must(JSON.stringify(names) === '["Ada Lovelace","Countess"]', `both changes are there: ${names}`);
  },
  async share({ container, fetch, strangers }) {
    const url = `${container}ada`;
    const readable = async (): Promise<boolean> =>
      solid.getSolidDataset(url, { fetch: strangers }).then(
        () => true,
        () => false,
      );
    await solid.universalAccess.setPublicAccess(url, { read: true }, { fetch });
    must(await readable(), 'what is public is read by a stranger');
    await solid.universalAccess.setAgentAccess(url, alice, { read: true, append: true }, { fetch });
    const access = await solid.universalAccess.getAgentAccess(url, alice, { fetch });
    must(access?.read === true && access.append === true && !access.write, 'what an agent may is told');
    await solid.universalAccess.setPublicAccess(url, { read: false }, { fetch });
    must(!(await readable()), 'what is no longer public is refused');
    const file = await solid.getFileWithAcl(`${container}note.txt`, { fetch });
    if (!solid.hasAccessibleAcl(file) || !solid.hasFallbackAcl(file)) throw new Error('there is no list to begin with');
    const list = solid.setPublicResourceAccess(solid.createAclFromFallbackAcl(file), {
      ...{ read: true, append: false, write: false, control: false },
    });
    await solid.saveAclFor(file, list, { fetch });
    must(
      (await (await solid.getFile(`${container}note.txt`, { fetch: strangers })).text()) === 'hello',
      'saveAclFor counts',
    );
  },
  async delete({ container, fetch, strangers }) {
    await mustFail(solid.deleteFile(`${container}note.txt`, { fetch: strangers }), 'what a stranger deletes');
    await mustFail(solid.deleteContainer(container, { fetch }), 'the deletion of a container that is not empty');
    for (const each of ['note.txt', 'ada']) await solid.deleteFile(container + each, { fetch });
    await solid.deleteContainer(container, { fetch });
    await mustFail(solid.getSolidDataset(container, { fetch }), 'what is deleted');
  },
};
