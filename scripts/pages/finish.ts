import { hash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { type Build, type BuiltFile, suffixes } from '../../packages/server/src/http/build.ts'
import type { Bundle } from './bundles.ts'
import { checkFirstLoad, type Manifest } from './first-load.ts'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  // Files that readers of the documentation copy, such as a Dockerfile.
  ...Object.fromEntries(
    ['', '.yaml', '.yml', '.service', '.mjs', '.py'].map((ext) => [ext, 'text/plain; charset=utf-8']),
  ),
}

/** Adds what serving needs: integrity of every script, compressed files and a file list -> bytes of a first load. */
export function finish(dist: string, { base, firstLoad }: Bundle, sources: string): number {
  const manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8')) as Manifest
  rmSync(join(dist, 'manifest.json'))
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  const files = Object.fromEntries(
    names
      .filter((name) => name !== 'index.html' && extname(name) !== '')
      .sort()
      .map((name) => [base + name, describeFile(dist, name)]),
  )
  const importMap = importMapOf(files)
  const page = withIntegrity(readFileSync(join(dist, 'index.html'), 'utf8'), files, importMap)
  writeFileSync(join(dist, 'index.html'), page)
  const firstLoadBytes = checkFirstLoad(dist, manifest, firstLoad)
  const root = { file: 'index.html', type: types['.html'] as string, integrity: integrityOf(page), encodings: [] }
  const build: Build = {
    sources,
    files: { [base]: root, ...files },
    importMapSha256: importMap && `sha256-${hash('sha256', importMap, 'base64')}`,
  }
  writeFileSync(join(dist, 'build.json'), `${JSON.stringify(build, null, 2)}\n`)
  return firstLoadBytes
}

const integrityOf = (bytes: Uint8Array | string) => `sha384-${hash('sha384', bytes, 'base64')}`

/** Describes a file of a build for the server, and compresses it. A lower quality of Brotli takes much less time. */
export function describeFile(dist: string, name: string, quality = constants.BROTLI_MAX_QUALITY): BuiltFile {
  const type = types[extname(name)]
  if (!type) throw new Error(`${name}: scripts/pages/finish.ts does not know the type of such a file`)
  const bytes = readFileSync(join(dist, name))
  const compressed = {
    br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    gzip: gzipSync(bytes, { level: 9 }),
  }
  const encodings = (['br', 'gzip'] as const).filter((encoding) => compressed[encoding].length < bytes.length)
  for (const encoding of encodings) writeFileSync(join(dist, name + suffixes[encoding]), compressed[encoding])
  return { file: name, type, integrity: integrityOf(bytes), encodings }
}

/**
 * Makes an import map with the hashes of scripts that are loaded later, because integrity attributes cover only scripts
 * that the page names. Returns null if there is only one script.
 */
function importMapOf(files: Record<string, BuiltFile>): string | null {
  const scripts = Object.entries(files).filter(([path]) => path.endsWith('.js'))
  if (scripts.length === 1) return null
  return JSON.stringify({ integrity: Object.fromEntries(scripts.map(([path, { integrity }]) => [path, integrity])) })
}

function withIntegrity(html: string, files: Record<string, BuiltFile>, importMap: string | null): string {
  const page = html.replace(/<(script|link)\b([^>]*?)\b(src|href)="([^"]+)"([^>]*)>/g, (tag, ...parts: string[]) => {
    const [name, before, attribute, path = '', after] = parts
    const file = files[path]
    if (!file || path.endsWith('.svg')) return tag
    return `<${name}${before}${attribute}="${path}" integrity="${file.integrity}"${after}>`
  })
  if (importMap === null) return page
  // Before anything that loads a module, because browsers accept no import map after that.
  return page.replace('<meta charset="utf-8">', `$&\n    <script type="importmap">${importMap}</script>`)
}
