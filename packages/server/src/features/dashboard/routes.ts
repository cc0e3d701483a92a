import { raw } from '../../http/raw.ts'
import { mountDashboard, pagePaths } from './dashboard.ts'

export const rawRoutes = [
  raw(
    [...pagePaths, '/assets/*', '/skerry.svg', '/secure-context.js', '/.well-known/skerry-dashboard-hashes'],
    'the dashboard: a page without data, its files and their hashes',
    (app) => mountDashboard(app),
  ),
]
