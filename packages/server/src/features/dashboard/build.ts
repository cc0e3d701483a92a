import { readFileSync } from 'node:fs'

/** What a build of the dashboard consists of: `dist/build.json`, which scripts/build-dashboard.ts writes. */
export interface Build {
  /** Of what it was made from: another build is needed when that changes. */
  sources: string
  /** Every file by the path that it is served at. `index.html` is `/`. */
  files: Record<string, BuiltFile>
  /** The one inline element, an import map, which runs nothing: it says what each script's integrity is. */
  importMapSha256: string
}

export interface BuiltFile {
  /** Below `dist`. */
  file: string
  type: string
  /** `sha384-...` of the file, as Subresource Integrity spells it. */
  integrity: string
  /** Compressed forms that lie beside the file. */
  encodings: ('br' | 'gzip')[]
}

/** Stands in `index.html` where each answer gets a nonce of its own. */
export const noncePlaceholder = '__SKERRY_NONCE__'

export const suffixes = { br: '.br', gzip: '.gz' } as const

export const distDir = new URL('../../../../dashboard/dist/', import.meta.url)

/** The build, and its page; null when there is none: the API works without. */
export function readBuild(): { build: Build; page: string } | null {
  try {
    const build = JSON.parse(readFileSync(new URL('build.json', distDir), 'utf8')) as Build
    return { build, page: readFileSync(new URL('index.html', distDir), 'utf8') }
  } catch {
    return null
  }
}
