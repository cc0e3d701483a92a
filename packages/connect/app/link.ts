import { isLoopback } from '@skerry/contract/loopback'
/** The executor that a link names, and the key to which credentials are encrypted. */
export interface NamedExecutor {
  origin: string
  /** RFC 7638 thumbprint of its wrapping key. */
  thumbprint: string
}

/**
 * The executor's message that a person has come back from a provider. `flow` names the OAuth flow that the page
 * finishes.
 */
export type Return = { outcome: 'finish'; flow: string } | { outcome: 'denied' | 'failed' }

/** The part of the address after `#`, which no server sees. */
export type Fragment =
  | { kind: 'link'; token: string; executor: NamedExecutor | null }
  | ({ kind: 'return' } & Return)
  | { kind: 'none' }
  | { kind: 'broken' }

/**
 * Accepts https, and for development also http on the loopback interface. It refuses other schemes, user names and
 * passwords.
 */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

const isOrigin = (text: string) => isSafeUrl(text) && new URL(text).origin === text

/**
 * Reads the fragment of a link (`t`, `x`, `k`), or of a return from a provider (`r`, `f`). A link to connect an account
 * names an executor and its key. A link to manage connections needs neither.
 */
export function readFragment(hash: string): Fragment {
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const [token = '', origin = '', thumbprint = '', outcome, flow] = ['t', 'x', 'k', 'r', 'f'].map(
    (name) => given.get(name) ?? undefined,
  )
  if (outcome === 'finish' && flow) return { kind: 'return', outcome, flow }
  if (outcome !== undefined) return { kind: 'return', outcome: outcome === 'denied' ? outcome : 'failed' }
  if (given.size === 0) return { kind: 'none' }
  if (/^vmt_[\w-]{43}$/.test(token)) return { kind: 'link', token, executor: null }
  const isWhole = /^vct_[\w-]{43}$/.test(token) && isOrigin(origin) && /^[\w-]{43}$/.test(thumbprint)
  return isWhole ? { kind: 'link', token, executor: { origin, thumbprint } } : { kind: 'broken' }
}
