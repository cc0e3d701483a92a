import { readFileSync } from 'node:fs'

/** What a build of pages consists of: `dist/build.json`, which scripts/build.ts writes. */
export interface Build {
  /** Of what it was made from: another build is needed when that changes. */
  sources: string
  /** Every file by the path that it is served at. `index.html` is the one that ends with `/`. */
  files: Record<string, BuiltFile>
  /**
   * The one inline element, an import map, which runs nothing: it says what each script's integrity is. null for pages of
   * one script.
   */
  importMapSha256: string | null
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

export interface BuiltPages {
  build: Build
  page: string
  dist: URL
}

/** The build of a package, and its page; null when there is none: the API works without. */
export function readBuild(name: 'connect' | 'dashboard'): BuiltPages | null {
  const dist = new URL(`../../../${name}/dist/`, import.meta.url)
  try {
    const build = JSON.parse(readFileSync(new URL('build.json', dist), 'utf8')) as Build
    return { build, page: readFileSync(new URL('index.html', dist), 'utf8'), dist }
  } catch {
    return null
  }
}
