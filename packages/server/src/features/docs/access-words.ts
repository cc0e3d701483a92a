import type { AccessFacts } from '@skerry/contract/docs/reference-model'
import type { AnyRoute } from '../../http/route.ts'

/** Collects who may call each operation, for the reference. */
export function accessFacts(routes: readonly AnyRoute[]): AccessFacts {
  const names = routes.map(({ endpoint, access }) => [`${endpoint.method} ${endpoint.path}`, access.name] as const)
  return { names: new Map(names), words: Object.assign({}, ...routes.map(({ access }) => access.words)) }
}
