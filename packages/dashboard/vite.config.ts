import { fileURLToPath } from 'node:url'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** What most pages share, as one file: that compresses better than fifty small ones. */
const shared = { name: 'shared', minShareCount: 26 }

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
    // Older ones lack light-dark(), and what stands in for it does not follow the chosen scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Nothing may be a data: URL: the policy allows none.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [shared] } } },
  },
  // `npx vite packages/dashboard` beside `npm start`, for working on pages.
  server: {
    proxy: Object.fromEntries(['/v1', '/health', '/sign-in/external'].map((path) => [path, 'http://127.0.0.1:4700'])),
  },
})
