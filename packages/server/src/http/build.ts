import { readFileSync } from 'node:fs'

/** The description of a build of pages: `dist/build.json`, which scripts/build.ts writes. */
export interface Build {
  /** The hash of the sources. A different hash means that the pages must be built again. */
  sources: string
  /** Every file by its URL path. `index.html` is the one whose path ends with `/`. */
  files: Record<string, BuiltFile>
  /**
   * The hash of the only inline element, an import map with the integrity of each script. An import map runs no code.
   * null for pages with a single script.
   */
  importMapSha256: string | null
}

export interface BuiltFile {
  /** Path below `dist`. */
  file: string
  type: string
  /** `sha384-...` of the file, in the format of Subresource Integrity. */
  integrity: string
  /** Compressed versions that are stored next to the file. */
  encodings: ('br' | 'gzip')[]
}

/** Placeholder in `index.html` for the nonce of each answer. */
export const noncePlaceholder = '__SKERRY_NONCE__'

export const suffixes = { br: '.br', gzip: '.gz' } as const

export interface BuiltPages {
  build: Build
  page: string
  dist: URL
}

/** Reads the build of a package and its page. Returns null if there is none: the API works without pages. */
export function readBuild(name: 'connect' | 'dashboard' | 'site'): BuiltPages | null {
  const dist = new URL(`../../../${name}/dist/`, import.meta.url)
  try {
    const build = JSON.parse(readFileSync(new URL('build.json', dist), 'utf8')) as Build
    return { build, page: readFileSync(new URL('index.html', dist), 'utf8'), dist }
  } catch {
    return null
  }
}
