import { parseConfig } from '@skerry/proxy/config/config'
import { startProxy } from '@skerry/proxy/start'
import { createClient } from '@skerry/sdk/client'
import { given } from './listen.ts'

// The agents' proxy as `skerry proxy run` starts it, with one secret. Every host name resolves to this machine.

const { settings, upstreamCa } = await given<{ settings: string; upstreamCa?: string }>()
const resolved = {
  values: { API_KEY: 'sk-live-0123456789abcdef' },
  provenance: {},
  overridden: [],
  unresolved: [],
  unexpanded: new Map(),
  scope: { orgId: '', orgSlug: '', appId: '', appSlug: '', envId: '', envSlug: '' },
  stale: false,
  fetchedAt: '',
  ageSeconds: 0,
  revision: '',
}
await startProxy(parseConfig(`listen = "127.0.0.1:${process.env.PORT}"\n${settings}`, '/'), {
  resolve: async () => resolved,
  resolved,
  client: createClient({ baseUrl: 'http://127.0.0.1:1' }),
  sources: new Map(),
  upstreamCa,
  lookUp: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  warn: (message) => process.stderr.write(`${message}\n`),
})
process.on('SIGTERM', () => process.exit(0))
