import type { FirstLoad } from './first-load.ts'

/** Pages that are built, each into the `dist` of its package. */
export interface Bundle {
  /** The name of the package. */
  name: 'connect' | 'dashboard'
  /** The path below which its files are served, with a slash at the end. */
  base: string
  /** The files and folders from which it is built. The lockfile stands for the dependencies. */
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
      maxBytes: 245_000,
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
