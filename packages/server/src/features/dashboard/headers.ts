import { always, policy } from '../../http/page-policy.ts'

/** Text can become a script only through the one policy that app/trusted-types.ts makes. */
const trusted = { 'require-trusted-types-for': "'script'", 'trusted-types': 'default' }

/**
 * The page may run only scripts of this build, which the import map and its hash name. It may use styles of this build,
 * and style elements of the component library with this answer's nonce. It may load images and fonts only from this
 * server, and send requests only to it.
 */
export const pageHeaders = (nonce: string, importMapSha256: string) => ({
  ...always,
  'content-security-policy': policy({
    'default-src': "'none'",
    'script-src': `'self' '${importMapSha256}'`,
    'script-src-attr': "'none'",
    'style-src': `'self' 'nonce-${nonce}'`,
    'style-src-attr': "'none'",
    'img-src': "'self'",
    'font-src': "'self'",
    'connect-src': "'self'",
    'worker-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    ...trusted,
  }),
  'permissions-policy': [
    'publickey-credentials-get=(self)',
    'publickey-credentials-create=(self)',
    'clipboard-write=(self)',
    ...['camera', 'microphone', 'geolocation', 'payment', 'usb', 'clipboard-read'].map((name) => `${name}=()`),
  ].join(', '),
  // The page is not cached, because it names the files of its version.
  'cache-control': 'no-store',
})

/**
 * Files of the build. The policy matters for the keyring's worker, which is among them: it may compile Argon2id, but
 * connect to nothing, so that a key can leave it only to its page.
 */
export const assetHeaders = {
  ...always,
  'content-security-policy': policy({
    'default-src': "'none'",
    'script-src': "'self' 'wasm-unsafe-eval'",
    'frame-ancestors': "'none'",
    ...trusted,
  }),
}
