/** The line breaks of a text. `mixed` stands for several kinds, or for a lone carriage return. */
export type LineBreak = '\n' | '\r\n' | 'mixed'

export function lineBreakOf(text: string): LineBreak {
  const kinds = new Set(text.match(/\r\n|\r|\n/g))
  if (kinds.size === 0) return '\n'
  const [kind] = kinds
  return kinds.size === 1 && (kind === '\n' || kind === '\r\n') ? kind : 'mixed'
}

/** Returns the text as a browser's field has it: with LF alone. */
export const toField = (text: string): string => text.replace(/\r\n?/g, '\n')

/** Returns the text of a field with its own line breaks. Mixed ones cannot be told apart any more. */
export const fromField = (text: string, lineBreak: LineBreak): string =>
  lineBreak === '\r\n' ? text.replaceAll('\n', '\r\n') : text
