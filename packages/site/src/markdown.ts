import MarkdownIt, { type Token } from 'markdown-it'

import type { Links } from './links.ts'
import type { Page, Section, Source } from './page.ts'

/** Renders a document. Text that looks like HTML stays text. */
export function render(source: Source, links: Links): Page {
  const markdown = withoutComments(source.markdown)
  const tokens = parser.parse(markdown, {})
  setAnchors(tokens)
  for (const token of tokens) {
    dropStyle(token)
    for (const child of token.children ?? []) setTarget(child, source, links)
    if (token.children) token.children = withoutDeadLinks(token.children)
  }
  const sections = sectionsOf(tokens, !source.path.startsWith('docs/api/'))
  const title = sections[0]?.text
  if (title === undefined) throw new Error(`${source.path}: has no heading`)
  const summary = firstSentence(sections.find(({ body }) => body !== '')?.body ?? '')
  return { ...source, title, summary, sections, html: parser.renderer.render(tokens, parser.options, {}) }
}

const parser = new MarkdownIt({ html: false })

/** Marks of generated tables. */
export const withoutComments = (markdown: string): string => markdown.replaceAll(/<!--[\s\S]*?-->\n*/g, '')

const { rules } = parser.renderer
rules.table_open = () => '<div class="scroll" tabindex="0"><table>\n'
rules.table_close = () => '</table></div>\n'
rules.code_block = (tokens, index) => codeBlock(tokens[index]!.content, '')
rules.fence = (tokens, index) => codeBlock(tokens[index]!.content, tokens[index]!.info)

/**
 * A block of code. The words after the language of a fence say what tests do with it: `file=<path>` is the content of a
 * file, and no suite runs an `untried` block.
 */
function codeBlock(content: string, info: string): string {
  const [, ...words] = info.trim().split(/\s+/)
  const file = words.find((word) => word.startsWith('file='))?.slice('file='.length)
  const captions = [file, words.includes('untried') ? 'Our tests do not run this block.' : undefined]
  const caption = captions
    .filter((one) => one !== undefined)
    .map((one) => `<figcaption>${escapeHtml(one)}</figcaption>`)
  const pre = `<pre tabindex="0"><code>${escapeHtml(content)}</code></pre>`
  return `<figure class="code">${caption.join('')}${pre}</figure>\n`
}

export const escapeHtml = (text: string): string => parser.utils.escapeHtml(text)

/** The anchor that GitHub gives to a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-')

function setAnchors(tokens: Token[]): void {
  const seen = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const anchor = anchorOf(textOf(tokens[index + 1]!))
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    token.attrSet('id', count === 0 ? anchor : `${anchor}-${count}`)
  }
}

/** Columns that a table aligns have a style, which the policy of the pages refuses. */
function dropStyle(token: Token): void {
  token.attrs = token.attrs?.filter(([name]) => name !== 'style') ?? null
}

function setTarget(token: Token, source: Source, links: Links): void {
  const name = { link_open: 'href', image: 'src' }[token.type]
  if (name === undefined) return
  const target = links.resolve(source, String(token.attrGet(name) ?? ''))
  if (target === null && token.type === 'image') throw new Error(`${source.path}: ${token.attrGet(name)} is missing`)
  token.attrSet(name, target ?? '')
  if (token.type === 'image') token.attrSet('loading', 'lazy')
}

/** Keeps the text of links to files that only the repository has. */
function withoutDeadLinks(tokens: Token[]): Token[] {
  let isDead = false
  return tokens.filter((token) => {
    if (token.type === 'link_open') isDead = token.attrGet('href') === ''
    if (token.type === 'link_close') return !isDead
    return token.type !== 'link_open' || !isDead
  })
}

/** The level of a row of a table. Headings have levels from 1 to 6. */
const rowLevel = 7

/**
 * The headings with the text below them. A table row that begins with a code, such as a setting or an error, is a section
 * of its own, which a search finds by that code.
 *
 * @param hasRows false for the pages of the API, whose tables list fields
 */
function sectionsOf(tokens: Token[], hasRows: boolean): Section[] {
  const sections: Section[] = []
  for (const [index, token] of tokens.entries()) {
    const last = sections.at(-1)
    if (token.type === 'heading_open') {
      const text = textOf(tokens[index + 1]!)
      sections.push({ level: Number(token.tag.slice(1)), text, anchor: String(token.attrGet('id')), body: '' })
    } else if (last && hasRows && isCodeCell(tokens, index)) {
      const text = token.children?.[0]?.content ?? ''
      sections.push({ level: rowLevel, text, anchor: last.anchor, body: '' })
    } else if (last && token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open')
      last.body += `${textOf(token)}\n`
    else if (last && (token.type === 'fence' || token.type === 'code_block')) last.body += `${token.content}\n`
  }
  return sections
}

/** Whether this is the text of a first cell that holds nothing but a code. */
const isCodeCell = (tokens: Token[], index: number): boolean =>
  tokens[index - 2]?.type === 'tr_open' &&
  tokens[index - 1]?.type === 'td_open' &&
  tokens[index]?.children?.length === 1 &&
  tokens[index].children[0]?.type === 'code_inline'

const textOf = ({ children }: Token): string =>
  (children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')

/** Each record of a decision begins with the word "Context", which says nothing about its page. */
function firstSentence(text: string): string {
  const [line = ''] = text.replace(/^Context\.\s+/, '').split('\n', 1)
  return /^.*?[.:](?=\s|$)/.exec(line)?.[0] ?? line
}
