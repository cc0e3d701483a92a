import type { AccessRules } from '@skerry/contract/docs/reference-model'
import type { AnyRoute } from '../../http/route.ts'

/** Describes for the reference who may call each operation. */
export const accessRules = (routes: readonly AnyRoute[]): AccessRules =>
  new Map(
    routes.map(({ endpoint, access }) => [
      `${endpoint.method} ${endpoint.path}`,
      Object.values(access.words)
        .map((rule) => `${rule}.`)
        .join(' '),
    ]),
  )
