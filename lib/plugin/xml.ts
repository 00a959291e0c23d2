/** Plug-in API: XML. */
export { XmlElement } from '../tools/xml.js';
