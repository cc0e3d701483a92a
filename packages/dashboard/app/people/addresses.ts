/** Something, an at sign, and a domain. The server checks the address again, and the mail shows whether it exists. */
const shape = /^[^\s@<>]+@[^\s@<>]+$/

/**
 * Finds the addresses in a text, separated by spaces, commas or lines. It accepts `Hana Sato <hana@example.com>`, as mail
 * programs copy it. Each address is returned once.
 */
export function addressesIn(text: string): { valid: string[]; invalid: string[] } {
  const bare = text.replaceAll(/[^,;\n<>]*<([^<>]*)>/g, ' $1 ')
  const words = bare.split(/[\s,;]+/).filter(Boolean)
  const unique = [...new Map(words.map((word) => [word.toLowerCase(), word])).values()]
  return { valid: unique.filter((word) => shape.test(word)), invalid: unique.filter((word) => !shape.test(word)) }
}
