import manifest from '../package.json' with { type: 'json' }

/** The program and version that this executor reports to the server. */
export const sdkVersion = `skerry-executor/${manifest.version}`
