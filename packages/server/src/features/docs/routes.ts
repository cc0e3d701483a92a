import { raw } from '../../http/raw.ts'
import { mountDocs } from './docs.ts'

export const rawRoutes = [
  raw(['/docs', '/docs/*', '/openapi.json'], 'the documentation and the OpenAPI document', (app) => mountDocs(app)),
]
