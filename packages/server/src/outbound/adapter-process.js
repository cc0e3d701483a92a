import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// An adapter child of the server: it speaks with targets of leases and rotation, so that the server does not. It has the
// server's address guard. Plain JavaScript for the same reason as main.js: a start loads nothing that strips types.

enableCompileCache(fileURLToPath(new URL('../../../../node_modules/.cache/skerry', import.meta.url)))
const { serve } = await import('./adapter-child.ts')
serve()
