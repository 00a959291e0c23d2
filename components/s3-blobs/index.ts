/** Stores the contents of JSON and binary resources in an S3 store, if `lws.blobs` names a bucket. */
import {
  defineComponent,
  matching,
  optional,
  SettingsError,
  type SettingsOf,
  setting,
  text,
} from '../../lib/plugin/component.js';
import type { S3Address } from './s3-client.js';

/** Matches a bucket with an optional prefix, in characters that need no escapes in a URL or in XML. */
const place = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/;

const isPlace = (value: string): boolean => {
  const found = place.exec(value);
  const prefix = found?.[2]?.replace(/\/$/, '') ?? '';
  const isPrefix = prefix === '' || prefix.split('/').every((part) => !['', '.', '..'].includes(part));
  return found !== null && prefix.length <= 500 && isPrefix;
};

const isEndpoint = (value: string): boolean =>
  /^https?:\/\//.test(value) && URL.canParse(value) && new URL(value).origin === value.replace(/\/$/, '');

const blobSettings = {
  blobs: setting(
    'lws.blobs',
    optional(matching(isPlace, 's3://bucket or s3://bucket/prefix')),
    null,
    'S3 bucket for the contents of JSON and binary resources. Default: the directory blobs/ in lws.data-dir.',
  ),
  s3Endpoint: setting(
    'lws.blobs.s3.endpoint',
    optional(matching(isEndpoint, 'an http or https URL without a path')),
    null,
    'S3 service of the bucket. Default: https://s3.REGION.amazonaws.com.',
  ),
  s3Region: setting(
    'lws.blobs.s3.region',
    matching((value) => /^[a-z0-9-]{1,50}$/.test(value), 'the name of a region'),
    'us-east-1',
    'Region of the bucket.',
  ),
  s3KeyId: setting(
    'lws.blobs.s3.access-key-id',
    optional(text('the id of an access key')),
    null,
    'Access key of the bucket. Default: AWS_ACCESS_KEY_ID of the environment.',
  ),
  s3Secret: setting(
    'lws.blobs.s3.secret-access-key',
    optional(text('the secret of an access key')),
    null,
    'Secret access key of the bucket. Default: AWS_SECRET_ACCESS_KEY of the environment.',
  ),
};

type BlobSettings = SettingsOf<typeof blobSettings>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Checks combinations of settings. @throws SettingsError */
function assertUsable(settings: BlobSettings, environment: Environment): void {
  const refuse = (message: string): never => {
    throw new SettingsError(message);
  };
  const { blobs, s3Endpoint, s3KeyId, s3Secret } = settings;
  if (blobs === null) {
    if (s3Endpoint !== null)
      refuse(
        `lws.blobs.s3.endpoint is ${JSON.stringify(s3Endpoint)}, but lws.blobs names no bucket. Set lws.blobs=s3://BUCKET.`,
      );
    if (s3KeyId !== null || s3Secret !== null)
      refuse(
        'An S3 key is set (lws.blobs.s3.access-key-id, lws.blobs.s3.secret-access-key), but lws.blobs names no bucket.',
      );
    return;
  }
  if ((s3KeyId === null) !== (s3Secret === null))
    refuse(
      `lws.blobs.s3.access-key-id is ${JSON.stringify(s3KeyId)}, but lws.blobs.s3.secret-access-key is ${s3Secret === null ? 'not set' : 'set'}. Set both or none.`,
    );
  if (s3KeyId === null && !(environment['AWS_ACCESS_KEY_ID'] && environment['AWS_SECRET_ACCESS_KEY']))
    refuse(
      `lws.blobs is ${JSON.stringify(blobs)}, which requires a key. Set lws.blobs.s3.access-key-id and lws.blobs.s3.secret-access-key, or ` +
        'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.',
    );
}

/** Returns the address of the S3 store, or `undefined` if blobs are in a directory. @throws SettingsError as `assertUsable` */
function s3AddressOf(settings: BlobSettings, environment: Environment = process.env): S3Address | undefined {
  assertUsable(settings, environment);
  const { blobs, s3Endpoint, s3Region, s3KeyId, s3Secret } = settings;
  if (blobs === null) return undefined;
  const [, bucket, prefix = ''] = place.exec(blobs)!;
  return {
    endpoint: s3Endpoint === null ? `https://s3.${s3Region}.amazonaws.com` : new URL(s3Endpoint).origin,
    region: s3Region,
    bucket: bucket!,
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    accessKeyId: s3KeyId ?? environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: s3Secret ?? environment['AWS_SECRET_ACCESS_KEY'] ?? '',
  };
}

export default defineComponent({
  name: 's3-blobs',
  settings: blobSettings,
  isEnabled: ({ blobs }) => blobs !== null,
  install: () => ({}),
  blobs(settings) {
    const address = s3AddressOf(settings);
    if (address === undefined) return undefined;
    const { endpoint, bucket, prefix } = address;
    return { module: new URL('s3-blobs.js', import.meta.url).href, id: [endpoint, bucket, prefix].join(' '), address };
  },
});
