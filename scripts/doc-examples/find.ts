/** An example of a document or of a doc comment. */
export interface Example {
  /** The path of its file, from the root. */
  path: string
  /** The number of its first line in that file, from 1. */
  line: number
  language: 'ts' | 'js'
  text: string
}

/** A line of Markdown that is code by its indent, and can only be TypeScript. */
const unfenced = /^(?: {4}|\t)(?:import .* from '|(?:export )?(?:const|let) |export default |await )/

/**
 * The ```ts and ```js fences of a page. TypeScript outside a fence is refused, because nobody would check it.
 *
 * @example fencesIn('docs/vault.md', page)[0]?.line // 68
 */
export function fencesIn(path: string, page: string): Example[] {
  const found: Example[] = []
  let open: { mark: string; language: string; line: number; lines: string[] } | undefined
  for (const [index, text] of page.split('\n').entries()) {
    const [, mark, language = ''] = /^\s*(`{3,})(\w*)/.exec(text) ?? []
    if (open && mark === open.mark && language === '') {
      const { line, lines } = open
      if (open.language === 'ts' || open.language === 'js')
        found.push({ path, line, language: open.language, text: lines.join('\n') })
      open = undefined
    } else if (open) open.lines.push(text)
    else if (mark) open = { mark, language, line: index + 2, lines: [] }
    else if (unfenced.test(text)) throw new Error(`${path}:${index + 1}: put this example into a \`\`\`ts fence`)
  }
  if (open) throw new Error(`${path}:${open.line - 1}: this fence has no end`)
  return found
}

const docComments = /^[ \t]*\/\*\*.*?\*\//gms

/** The text after `@example`, up to the next tag or the end of the comment. */
const tagged = /@example(.*?)(?=^[ \t]*\* @\w|\*\/)/ms

/**
 * The `@example` of each doc comment of a source file.
 *
 * @example examplesIn('packages/crypto/src/gcm.ts', source).map(({ line }) => line)
 */
export function examplesIn(path: string, source: string): Example[] {
  return [...source.matchAll(docComments)].flatMap(({ 0: comment, index }) => {
    const example = tagged.exec(comment)
    if (!example) return []
    const line = source.slice(0, index + example.index).split('\n').length
    const text = (example[1] as string).replace(/^[ \t]*\* ?/gm, '')
    return [{ path, line, language: path.endsWith('.js') ? 'js' : 'ts', text }]
  })
}
