import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import type { Assets } from './layout.ts'

/** Bundles the script and the style of the site -> their names, and the content of these files and of the fonts. */
export async function bundleClient(): Promise<{ assets: Assets; files: Map<string, Uint8Array> }> {
  const entry = fileURLToPath(new URL('./client/site.ts', import.meta.url))
  const made = await build({
    root: fileURLToPath(new URL('./client', import.meta.url)),
    configFile: false,
    logLevel: 'warn',
    base: './',
    build: {
      write: false,
      target: 'es2024',
      // Older browsers lack light-dark().
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: entry, output: { codeSplitting: false } },
    },
  })
  if (Array.isArray(made) || !('output' in made)) throw new Error('one build was asked for')
  const files = new Map<string, Uint8Array>()
  for (const part of made.output) files.set(part.fileName, Buffer.from(part.type === 'chunk' ? part.code : part.source))
  const nameOf = (ending: string) => {
    const names = [...files.keys()].filter((name) => name.endsWith(ending))
    if (names.length !== 1) throw new Error(`one ${ending} file was expected: ${names.join(', ')}`)
    return names[0] as string
  }
  return { assets: { script: nameOf('.js'), style: nameOf('.css') }, files }
}
