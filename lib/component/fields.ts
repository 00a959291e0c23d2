/** Codecs of HTTP fields, and JSON. */
export { chooseMediaType, type MediaRange, parseAccept, qualityOf } from '../fields/accept.js';
export { clientOf, digestOfClient } from '../fields/client-address.js';
export { isTime, parseDateTime } from '../fields/date.js';
export { formatEntityTag } from '../fields/etag.js';
export { formatLink } from '../fields/link.js';
export { parseMediaType } from '../fields/media-type.js';
export { parseStates } from '../fields/states.js';
export { formatTraceparent } from '../fields/traceparent.js';
export { isObject, valuesOf } from '../json/exact-json.js';
export { decodeUtf8, parseJson } from '../json/json.js';
