/** A fenced block of a document. */
export interface Block {
  /** The number of its first line, from 1. */
  line: number
  language: string
  /** The words after the language: `untried`, `file=server.js`. */
  words: string[]
  text: string
}

/** The fenced blocks of a document, in order. */
export function blocksIn(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(text)
    if (!fence) {
      if (open) open.text += `${text}\n`
    } else if (open) {
      blocks.push(open)
      open = undefined
    } else {
      const [language = '', ...words] = (fence[1] as string).split(' ')
      open = { line: index + 2, language, words, text: '' }
    }
  }
  return blocks
}

/** The value of a word such as `file=server.js`. */
export const wordOf = ({ words }: Block, name: string): string | undefined =>
  words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
