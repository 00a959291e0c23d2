/** Assembles the parts of the component. */
import type { Installation, Platform } from '../../lib/component/contract.js';
import { formatLink } from '../../lib/tools/fields/link.js';
import { Admission } from './admission.js';
import { ShapeDocuments } from './documents.js';
import { LinkChanges } from './link-changes.js';
import { ShapesLinks } from './links.js';
import { ShapeMembers } from './members.js';
import { shapesRoutes, shapesServices } from './routes.js';
import { shapesTools } from './tools.js';
import { Validator } from './validator.js';
import { constrainedBy } from './vocabulary.js';

export async function openShapes(platform: Platform): Promise<Installation> {
  const { authorizer, rootIri, store } = platform;
  const links = await ShapesLinks.open(store, rootIri);
  const [documents, validator] = [new ShapeDocuments(platform), new Validator(platform)];
  const members = new ShapeMembers(platform, documents, validator);
  const linkChanges = new LinkChanges(platform, links, { documents, validator, members });
  const admission = new Admission(platform, links, { documents, validator, linkChanges });
  store.onTransaction((tx) => admission.listen(tx));
  const endpoints = { platform, links, documents, validator, members, admission };
  return {
    routes: shapesRoutes(endpoints),
    tools: shapesTools(endpoints),
    services: shapesServices(platform),
    capabilities: [{ type: 'https://www.w3.org/TR/shacl/' }],
    linksOf(access, iri) {
      const inForce = links.inForce(iri);
      if (!inForce) return undefined;
      const mayRead = async (each: string): Promise<boolean> => {
        const record = store.record(each);
        return record !== undefined && authorizer.allows({ view: store, access, mode: 'read', iri: each, record });
      };
      return Promise.all(
        inForce.shapes.map(async (each) => ((await mayRead(each)) ? [formatLink(each, constrainedBy)] : [])),
      ).then((found) => found.flat());
    },
    stop: () => validator.close(),
  };
}
