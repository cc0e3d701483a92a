import { always, policy } from '../../http/page-policy.ts'

/** Whatever text may become a script has to pass the one policy that app/trusted-types.ts makes. */
const trusted = { 'require-trusted-types-for': "'script'", 'trusted-types': 'default' }

/**
 * The page: scripts of this build alone, named by the import map and its hash; styles of this build, and what the
 * component library puts into style elements with this answer's nonce; requests to this server alone.
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
  // Asked for on each visit, since it names the files of its version.
  'cache-control': 'no-store',
})

/**
 * Files of the build. The policy counts where the keyring's worker is among them: it may compile Argon2id, and connect to
 * nothing, so that no key can leave it but to its page.
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
