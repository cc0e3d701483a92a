import { readFileSync } from 'node:fs'
import { openApiDocument } from '@skerry/contract/docs/openapi'
import { reference } from '@skerry/contract/docs/reference-model'
import type { AnyRoute } from '../../http/route.ts'
import { accessFacts } from './access-words.ts'
import { referencePage } from './page.ts'

export interface Document {
  type: string
  make: () => string
}

/** The documents of the API by path: the OpenAPI document, and the reference that is rendered from it. */
export function documentsOf(routes: readonly AnyRoute[]): Record<string, Document> {
  return {
    '/docs': { type: 'text/html; charset=utf-8', make: () => referencePage(reference(accessFacts(routes))) },
    '/docs.css': {
      type: 'text/css; charset=utf-8',
      make: () => readFileSync(new URL('docs.css', import.meta.url), 'utf8'),
    },
    '/openapi.json': { type: 'application/json; charset=utf-8', make: () => JSON.stringify(openApiDocument()) },
  }
}
