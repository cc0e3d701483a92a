import { raw } from '../../http/raw.ts'
import { mountDocs } from './docs.ts'

export const rawRoutes = [
  raw(['/docs', '/docs.css', '/openapi.json'], 'what the API is, as the source says it', (app, _, routes) =>
    mountDocs(app, routes),
  ),
]
