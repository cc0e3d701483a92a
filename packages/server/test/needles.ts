/** A secret that must not be found, in every encoding in which it could be written. */
export interface Needle {
  what: string
  forms: string[]
}

/** Makes a needle of a text, or of bytes such as a key. */
export function needle(what: string, secret: string | Uint8Array): Needle {
  const bytes = Buffer.from(secret as string)
  const plain =
    typeof secret === 'string' ? [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)] : []
  const encoded = [0, 1, 2].map((offset) => base64Inside(bytes, offset))
  const both = encoded.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
  const hex = bytes.toString('hex')
  return { what, forms: [...new Set([...plain, ...both, hex, hex.toUpperCase()])] }
}

/** Base64 of the bytes at `offset` in a group of three, without the characters that also depend on other bytes. */
function base64Inside(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
}

export interface Place {
  where: string
  text: string
}

/** Lists which needles are in which places, as `what in where`. */
export const findings = (needles: Needle[], places: Place[]): string[] =>
  needles.flatMap(({ what, forms }) =>
    places.filter(({ text }) => forms.some((form) => text.includes(form))).map(({ where }) => `${what} in ${where}`),
  )
