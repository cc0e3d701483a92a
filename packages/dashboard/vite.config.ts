import { fileURLToPath } from 'node:url'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * The modules that every page needs, and the modules that most pages share, in two files. They compress better than fifty small
 * ones. The sign-in page does not need the second file.
 */
const initial = { name: 'initial', tags: ['$initial' as const] }
const shared = { name: 'shared', minShareCount: 36 }

export default defineConfig({
  root: here('.'),
  plugins: [
    tanstackRouter({
      target: 'react',
      autoCodeSplitting: true,
      routesDirectory: here('app/routes'),
      generatedRouteTree: here('app/routes.gen.ts'),
      addExtensions: true,
      quoteStyle: 'single',
      semicolons: false,
    }),
    react(),
  ],
  worker: { format: 'es' },
  build: {
    target: 'es2024',
    // Older browsers lack light-dark(), and its fallback does not follow the chosen colour scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // No asset becomes a data: URL, because the content security policy allows none.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    // scripts/pages/first-load.ts checks the sizes that matter.
    chunkSizeWarningLimit: Infinity,
    modulePreload: { polyfill: false },
    // `npm start` builds, and its output is for people who use Skerry: it tells them no timings of plugins.
    rolldownOptions: { output: { codeSplitting: { groups: [initial, shared] } }, checks: { bundlerTimings: false } },
  },
  // For work on pages: run `npx vite packages/dashboard` beside `npm start`.
  server: {
    proxy: Object.fromEntries(['/v1', '/health', '/sign-in/external'].map((path) => [path, 'http://127.0.0.1:4700'])),
  },
})
