import { raw } from '../../http/raw.ts'
import { mountConnectPage, pagePaths } from './connect-page.ts'

export const rawRoutes = [
  raw([...pagePaths, '/connect/assets/*'], 'the Connect page: a page without data, and its files', (app) =>
    mountConnectPage(app),
  ),
]
