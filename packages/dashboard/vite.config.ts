import { fileURLToPath } from 'node:url'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Puts the modules that most pages share into one file, which compresses better than fifty small ones. */
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
    modulePreload: { polyfill: false },
    // `npm start` builds, and its output is for people who use Skerry: it tells them no timings of plugins.
    rolldownOptions: { output: { codeSplitting: { groups: [shared] } }, checks: { bundlerTimings: false } },
  },
  // For work on pages: run `npx vite packages/dashboard` beside `npm start`.
  server: {
    proxy: Object.fromEntries(['/v1', '/health', '/sign-in/external'].map((path) => [path, 'http://127.0.0.1:4700'])),
  },
})
