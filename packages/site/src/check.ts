import { posix } from 'node:path'

/** Addresses that a browser requests by itself when it shows a page. */
const loading =
  /<(?:script|img|source|iframe|video|audio|embed|object|link)\b[^>]*?\s(?:src|srcset|href|data|poster)="([^"]*)"/g

/** Parts of a page that its policy refuses: scripts and styles in the page, and handlers. */
const inline = /<script(?![^>]*\ssrc=)[^>]*>|<style\b|<[^>]+\s(?:style|on\w+)="/g

/**
 * Problems of a built site: a page that requests something from elsewhere, scripts and styles inside of a page, and
 * links that lead nowhere. Each line names the file.
 *
 * @param files path -> text, of all files. Those that are not text are empty.
 */
export function problemsOf(files: ReadonlyMap<string, string>): string[] {
  const ids = new Map([...files].filter(([path]) => path.endsWith('.html')).map(([path, html]) => [path, idsIn(html)]))
  const problems: string[] = []
  for (const [path, text] of files) {
    const report = (words: string) => problems.push(`${path}: ${words}`)
    if (path.endsWith('.css')) for (const address of addressesIn(text)) checkLoaded(address, path, files, report)
    if (!path.endsWith('.html')) continue
    for (const [, address = ''] of text.matchAll(loading)) checkLoaded(address, path, files, report)
    for (const [found] of text.matchAll(inline)) report(`${found} is refused by the policy of the pages`)
    for (const [, href = ''] of text.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)) checkLink(href, path, ids, files, report)
  }
  return problems
}

const idsIn = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id))

const addressesIn = (css: string) =>
  [...css.matchAll(/(?:url\(|@import )\s*["']?([^"')]+)/g)].map(([, url = '']) => url)

const isElsewhere = (address: string) => /^(?:[a-z]+:|\/)/i.test(address)

const targetOf = (path: string, address: string) => {
  const target = posix.join(posix.dirname(path), address)
  return address === '' ? path : /(^|\/)$|^\.$/.test(target) ? posix.join(target, 'index.html') : target
}

type Files = ReadonlyMap<string, string>

function checkLoaded(address: string, path: string, files: Files, report: (words: string) => void): void {
  if (isElsewhere(address)) report(`requests ${address}, which is not a file of the site`)
  else if (!files.has(targetOf(path, address))) report(`requests ${address}, which does not exist`)
}

function checkLink(
  href: string,
  path: string,
  ids: ReadonlyMap<string, Set<string>>,
  files: Files,
  report: (words: string) => void,
): void {
  if (/^https?:|^mailto:/.test(href)) return
  const [address = '', anchor] = href.split('#')
  const target = targetOf(path, address)
  if (isElsewhere(address) || !files.has(target)) report(`${href} leads nowhere`)
  else if (anchor && ids.get(target)?.has(decodeURIComponent(anchor)) === false) report(`${href}: no such heading`)
}
