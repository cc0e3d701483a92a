import { parseConfig } from '@skerry/proxy/config/config'
import { startProxy } from '@skerry/proxy/start'
import { createClient } from '@skerry/sdk/client'
import { given } from './listen.ts'

// The agents' proxy as `skerry proxy run` starts it, with one route and one secret.

const { port } = await given<{ port: number }>()
const toml = `
listen = "127.0.0.1:${process.env.PORT}"
[[route]]
prefix = "/"
upstream = "http://127.0.0.1:${port}"
allow = ["API_KEY"]
`
const resolved = {
  values: { API_KEY: 'sk-live-0123456789abcdef' },
  provenance: {},
  unresolved: [],
  unexpanded: new Map(),
  scope: { orgId: '', orgSlug: '', appId: '', appSlug: '', envId: '', envSlug: '' },
  stale: false,
  fetchedAt: '',
  ageSeconds: 0,
  revision: '',
}
await startProxy(parseConfig(toml, '/'), {
  resolve: async () => resolved,
  resolved,
  client: createClient({ baseUrl: 'http://127.0.0.1:1' }),
  sources: new Map(),
  warn: (message) => process.stderr.write(`${message}\n`),
})
process.on('SIGTERM', () => process.exit(0))
