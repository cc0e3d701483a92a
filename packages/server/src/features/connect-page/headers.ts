import { isLoopback } from '@skerry/contract/loopback'
import { always, policy } from '../../http/page-policy.ts'

/** Executors on the same machine, for development. */
const loopback = 'http://localhost:* http://127.0.0.1:*'

/**
 * The page runs only its own script and style, nothing inline, and no frame may contain it. It sends requests to the
 * executor that the link names. No policy can know that beforehand, so every https origin is allowed, and every port of
 * this machine if the server is reached there.
 */
export const pageHeaders = (hostname: string) => ({
  ...always,
  'content-security-policy': policy({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    // A product's picture is a data URL. No picture is loaded from elsewhere.
    'img-src': 'data:',
    'connect-src': `'self' https:${isLoopback(hostname) ? ` ${loopback}` : ''}`,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  }),
  'permissions-policy': ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'clipboard-read']
    .map((name) => `${name}=()`)
    .join(', '),
  'cache-control': 'no-store',
})

export const assetHeaders = {
  ...always,
  'content-security-policy': policy({ 'default-src': "'none'", 'frame-ancestors': "'none'" }),
}
