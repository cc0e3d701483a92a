/** So long a piece of a value is taken for the value: providers cut what they quote. */
const pieceCharacters = 16
/** A value shorter than this is found as a word only: 1 stands in every `HTTP 401`. */
const wordCharacters = 6

const hidden = 'What the provider said is not shown, because it repeats a value.'

/**
 * The one way for what another system said into a run, an answer or a row: a text that equals or contains a value, whole, in
 * a usual encoding or a long piece of it, is dropped.
 *
 * @param secrets every value of the run, and the credential
 */
export function withoutValues(text: string, secrets: Iterable<string>): string {
  const said = text.toLowerCase()
  const pieces = piecesOf(said)
  for (const secret of secrets)
    for (const form of formsOf(secret)) {
      const isThere = form.length < wordCharacters ? hasWord(said, form) : said.includes(form)
      if (isThere || pieces.some((piece) => form.includes(piece))) return hidden
    }
  return text
}

function piecesOf(said: string): string[] {
  const pieces: string[] = []
  for (let from = 0; from + pieceCharacters <= said.length; from++)
    pieces.push(said.slice(from, from + pieceCharacters))
  return pieces
}

function formsOf(secret: string): string[] {
  if (secret === '') return []
  const encoded = [
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]
  return [...new Set([secret, ...encoded])].map((form) => form.toLowerCase())
}

function hasWord(said: string, word: string): boolean {
  for (let at = said.indexOf(word); at >= 0; at = said.indexOf(word, at + 1)) {
    const around = (said[at - 1] ?? ' ') + (said[at + word.length] ?? ' ')
    if (!/[\p{L}\p{N}]/u.test(around)) return true
  }
  return false
}
