import { posix } from 'node:path'
import type { Source } from './page.ts'

/** Finds the place of a document or a file of the repository in the site. */
export interface Links {
  /**
   * The address that a link of a page has in the site. Returns null for a file that is not in the site.
   *
   * @example links.resolve(page, 'settings.md#smtp') // '../settings/#smtp'
   */
  resolve: (from: Source, href: string) => string | null
  /** The same for the Markdown file beside the page, whose links lead to other Markdown files. */
  resolveMarkdown: (from: Source, href: string) => string | null
  /** Path in the repository -> path in the site, of each picture and file that a page links to. */
  files: ReadonlyMap<string, string>
}

/** The files that pages may show or offer besides documents. Readers without a checkout copy those of the last two folders. */
const isFile = /^(?:docs\/(?:.*\.(?:png|svg)|openapi\.json)|(?:integrations|deploy)\/.*\w)$/

export function linksOf(sources: readonly Source[], exists: (path: string) => boolean): Links {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const files = new Map<string, string>()
  const find = (from: Source, href: string) => {
    const [path = '', anchor] = href.split('#')
    const target = path === '' ? from.path : posix.join(posix.dirname(from.path), path).replace(/\/$/, '')
    const source = byPath.get(target) ?? byPath.get(`${target}/README.md`)
    const hash = anchor === undefined ? '' : `#${anchor}`
    if (source) return { source, hash }
    if (!isFile.test(target) || !exists(target)) return null
    const file = target.replace(/^docs\//, '')
    files.set(target, file)
    return { file, hash }
  }
  const link = (from: Source, href: string, place: (source: Source) => string, up: string) => {
    if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href
    const found = find(from, href)
    return found && `${up}${found.source ? place(found.source) : found.file}${found.hash}`
  }
  return {
    files,
    resolve: (from, href) => link(from, href, ({ url }) => url, upFrom(from.url)),
    resolveMarkdown: (from, href) => link(from, href, markdownFileOf, upFrom(markdownFileOf(from))),
  }
}

/** The way from a page to the root of the site. Every link is relative, so the site works below any address. */
export const upFrom = (url: string): string => '../'.repeat(url.split('/').length - 1) || './'

/** @example markdownFileOf({ url: 'guides/ci/' }) // 'guides/ci.md' */
export const markdownFileOf = ({ url }: Pick<Source, 'url'>): string => `${url.replace(/\/$/, '') || 'index'}.md`
