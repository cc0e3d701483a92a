import type { FirstLoad } from './first-load.ts'

/** Pages that are built, each into the `dist` of its package. */
export interface Bundle {
  /** Of the package. */
  name: 'connect' | 'dashboard'
  /** Path that its files are served below, with a slash at the end. */
  base: string
  /** Everything that it is made from. The lockfile stands for what comes from elsewhere. */
  sources: string[]
  firstLoad: FirstLoad
}

const common = ['packages/contract/src', 'packages/crypto/src', 'scripts/pages', 'package-lock.json']
const own = (name: string, ...more: string[]) =>
  ['app', 'index.html', 'vite.config.ts', ...more].map((path) => `packages/${name}/${path}`)

export const bundles: Bundle[] = [
  {
    name: 'dashboard',
    base: '/',
    sources: [...own('dashboard', 'public'), 'packages/sdk/src', ...common],
    firstLoad: {
      maxBytes: 250_000,
      // A signed-in person's browser loads these before it shows anything: the entry, and what surrounds every page.
      entries: ['index.html', 'app/routes/_app.tsx?tsr-split=component'],
      isPage: (name) => name.startsWith('app/routes/') && name.includes('?tsr-split'),
    },
  },
  {
    name: 'connect',
    base: '/connect/',
    sources: [...own('connect'), ...common],
    firstLoad: { maxBytes: 60_000, entries: ['index.html'] },
  },
]
