// An adapter child of the provisioner. Plain JavaScript, so that packages can name this file too: they have no TypeScript.
await import('./adapters.ts')
