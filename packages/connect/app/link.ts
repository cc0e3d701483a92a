import { isLoopback } from '@skerry/contract/loopback'
/** The executor that a link names, and the one key of it that credentials are encrypted to. */
export interface NamedExecutor {
  origin: string
  /** RFC 7638 thumbprint of its wrapping key. */
  thumbprint: string
}

/** How an executor says that a person has come back from a provider: with what the page finishes by, or without. */
export type Return = { outcome: 'finish'; flow: string } | { outcome: 'denied' | 'failed' }

/** What the address carried behind its #, where no server sees it. */
export type Fragment =
  | { kind: 'link'; token: string; executor: NamedExecutor | null }
  | ({ kind: 'return' } & Return)
  | { kind: 'none' }
  | { kind: 'broken' }

/** https; for development on one machine also http on the loopback interface. No other scheme, and nobody's name in it. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

const isOrigin = (text: string) => isSafeUrl(text) && new URL(text).origin === text

/**
 * Reads the fragment of a link (`t`, `x`, `k`), or of a return from a provider (`r`, `f`). A link to connect something names an
 * executor and its key; a link to manage what is connected needs none.
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
