import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// An adapter child of the server. It talks to targets of leases and rotation instead of the server, with the same
// address guard. Plain JavaScript for the same reason as main.js: a start does not load the type stripper.

enableCompileCache(fileURLToPath(new URL('../../../../node_modules/.cache/skerry', import.meta.url)))
const { serve } = await import('./adapter-child.ts')
serve()
