import type { AccessFacts } from '@skerry/contract/reference-model'
import type { AnyRoute } from '../../http/route.ts'

/**
 * The words that an access name is made of.
 *
 * @example wordsOf('limited(signup, open: makes a tenant)') // ['limited', 'open']
 */
export function wordsOf(accessName: string): string[] {
  return (
    accessName
      .replace(/open: .*/, 'open')
      // What is limited or counted is no word of its own.
      .replace(/\([\w.]+, /g, '(')
      .match(/\w+/g) ?? []
  )
}

/** What the reference shows of who may call what. */
export function accessFacts(routes: readonly AnyRoute[]): AccessFacts {
  const names = routes.map(({ endpoint, access }) => [`${endpoint.method} ${endpoint.path}`, access.name] as const)
  return { names: new Map(names), words: Object.assign({}, ...routes.map(({ access }) => access.words)) }
}
