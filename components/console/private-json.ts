/** Answers that are for the one who asked, and for this moment. */
import type { Reply } from '../../lib/http/reply.js';

export const privateJson = (content: unknown): Reply => ({
  status: 200,
  fields: {
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
  },
  body: Buffer.from(JSON.stringify(content)),
});
