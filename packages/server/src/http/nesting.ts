const quote = 0x22
const backslash = 0x5c

/**
 * Whether JSON opens more objects and arrays within each other than that. Asked before it is parsed: what looks at a body
 * afterwards calls itself for each level, and thousands of them are more than its stack holds.
 */
export function nestsDeeper(bytes: Buffer, levelsMax: number): boolean {
  let levels = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    // [ and {, ] and }: each pair differs in one bit.
    else if (byte === 0x5b || byte === 0x7b) {
      if (++levels > levelsMax) return true
    } else if (byte === 0x5d || byte === 0x7d) levels--
  }
  return false
}

/** Where the string ends that begins there; the search for the quote is native, since ciphertexts are most of a body. */
function endOfString(bytes: Buffer, begin: number): number {
  for (let end = bytes.indexOf(quote, begin + 1); end > 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return bytes.length
}
