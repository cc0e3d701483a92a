import { defineConfig } from 'vite'

const { API_URL = 'http://127.0.0.1:3000', API_KEY = '' } = process.env

export default defineConfig({
  server: {
    proxy: {
      // The key is added here, on the developer's machine. The browser never gets it.
      '/api': { target: API_URL, changeOrigin: true, headers: { authorization: `Bearer ${API_KEY}` } },
    },
  },
})
