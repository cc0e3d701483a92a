import manifest from '../package.json' with { type: 'json' }

/** What the server is told that runs here. */
export const sdkVersion = `skerry-executor/${manifest.version}`
