import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/connect/',
  build: {
    target: 'es2024',
    // Older browsers lack light-dark().
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    emptyOutDir: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    // One script, so that the page itself can name the integrity of all of it.
    rolldownOptions: { output: { codeSplitting: false }, checks: { bundlerTimings: false } },
  },
})
