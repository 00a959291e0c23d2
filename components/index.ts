/** Components of every installation. `lws.components` adds others. */
import type { Component } from '../lib/component/component.js';
import accessGrants from './access-grants/index.js';
import acme from './acme/index.js';
import agents from './agents/index.js';
import authnOpenId from './authn-openid/index.js';
import authnSaml from './authn-saml/index.js';
import authnSelfSigned from './authn-self-signed/index.js';
import authorizationServer from './authorization-server/index.js';
import connect from './connect/index.js';
import consolePages from './console/index.js';
import backup from './data/backup/index.js';
import transfer from './data/transfer/index.js';
import formats from './formats/index.js';
import metrics from './metrics/index.js';
import notifications from './notifications/index.js';
import s3Blobs from './s3-blobs/index.js';
import textSearch from './search/text-search/index.js';
import searchIndex from './search/type-index/index.js';
import shapes from './shapes/index.js';
import sharedStorage from './shared-storage/index.js';
import sparql from './sparql/index.js';
import storages from './storages/index.js';
import trash from './trash/index.js';
import versions from './versions/index.js';
import webdav from './webdav/index.js';

export const standardComponents: readonly Component[] = [
  acme,
  s3Blobs,
  sharedStorage,
  authorizationServer,
  authnOpenId,
  authnSelfSigned,
  authnSaml,
  shapes,
  searchIndex,
  textSearch,
  accessGrants,
  notifications,
  sparql,
  backup,
  transfer,
  trash,
  connect,
  agents,
  formats,
  consolePages,
  metrics,
  webdav,
  storages,
  versions,
].map((component) => component as unknown as Component);
