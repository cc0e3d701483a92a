import { isLoopback } from '@skerry/contract/loopback'
import { always, policy } from '../../http/page-policy.ts'

/** Executors of the same machine, for development. */
const loopback = 'http://localhost:* http://127.0.0.1:*'

/**
 * The page: its own script and style, nothing inline, no frame around it. It asks the executor that the link names, which
 * no policy can know beforehand: any https origin, and on a server that is reached at this machine also its other ports.
 */
export const pageHeaders = (hostname: string) => ({
  ...always,
  'content-security-policy': policy({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    // A product's picture as a data URL: none is loaded from elsewhere.
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
