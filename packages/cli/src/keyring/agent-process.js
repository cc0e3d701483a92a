// The agent. Plain JavaScript, so that packages can name this file too: they have no TypeScript.
await import('./agent.ts')
