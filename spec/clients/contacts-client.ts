/** Solid data module for address books, based on rdflib.js. */
import ContactsModule from '@solid-data-modules/contacts-rdflib';
import { graph, UpdateManager, Fetcher as WebFetcher } from 'rdflib';
import { type Journey, must, mustFail } from './journey.js';

function open(fetch: typeof globalThis.fetch) {
  const store = graph();
  const fetcher = new WebFetcher(store, { fetch: fetch as never });
  return {
    store,
    fetcher,
    contacts: new ContactsModule({ store, fetcher, updater: new UpdateManager(store) } as never),
  };
}

/** IRIs of the address book, contact and group, by container. */
const places = new Map<string, { book: string; ada: string; group: string }>();

export const contactsModule: Journey = {
  async create({ container, fetch }) {
    const { contacts } = open(fetch);
    const book = await contacts.createAddressBook({ containerUri: container, name: 'Friends' });
    const ada = await contacts.createNewContact({
      addressBookUri: book,
      contact: { name: 'Ada', email: 'ada@example.org', phoneNumber: '+4911' },
    });
    const group = await contacts.createNewGroup({ addressBookUri: book, groupName: 'Science' });
    places.set(container, { book, ada, group });
  },
  async read({ container, fetch, unauthorized }) {
    const { book, ada } = places.get(container)!;
    const { name, emails, phoneNumbers } = await open(fetch).contacts.readContact(ada);
    must(name === 'Ada' && emails[0]?.value === 'ada@example.org' && phoneNumbers.length === 1, 'the contact is read');
    await mustFail(open(unauthorized).contacts.readAddressBook(book), 'a read by another agent');
  },
  async list({ container, fetch }) {
    const { book } = places.get(container)!;
    const { title, contacts, groups } = await open(fetch).contacts.readAddressBook(book);
    must(title === 'Friends' && contacts.length === 1 && groups.length === 1, 'the book is listed');
  },
  async change({ container, fetch, unauthorized }) {
    const { ada, group } = places.get(container)!;
    const { contacts } = open(fetch);
    await contacts.addContactToGroup({ contactUri: ada, groupUri: group });
    await contacts.renameContact({ contactUri: ada, newName: 'Countess' });
    const phone = await contacts.addNewPhoneNumber({ contactUri: ada, newPhoneNumber: '+4922' });
    await contacts.updatePhoneNumber({ phoneNumberUri: phone, newPhoneNumber: '+4933' });
    await contacts.removePhoneNumber({ contactUri: ada, phoneNumberUri: phone });
    const mail = await contacts.addNewEmailAddress({ contactUri: ada, newEmailAddress: 'countess@example.org' });
    await contacts.removeEmailAddress({ contactUri: ada, emailAddressUri: mail });
    const again = open(fetch).contacts;
    must((await again.readContact(ada)).name === 'Countess', 'the change is stored');
    must((await again.readGroup(group)).members.length === 1, 'the member is stored');
    await contacts.removeContactFromGroup({ contactUri: ada, groupUri: group });
    must((await open(fetch).contacts.readGroup(group)).members.length === 0, 'the member is removed');
    const theirs = open(unauthorized).contacts.renameContact({ contactUri: ada, newName: 'Eve' });
    await mustFail(theirs, 'a change by another agent');
  },
  async delete({ container, fetch, unauthorized }) {
    // The module has no method to delete a book, so applications use its fetcher.
    const { book } = places.get(container)!;
    const document = book.replace(/#.*/, '');
    await mustFail(open(unauthorized).fetcher.delete(document), 'a deletion by another agent');
    await open(fetch).fetcher.delete(document);
    must((await fetch(document)).status === 404, 'the book is deleted');
  },
};
