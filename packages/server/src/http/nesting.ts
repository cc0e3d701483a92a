const quote = 0x22
const backslash = 0x5c

/**
 * Whether JSON nests objects and arrays deeper than `levelsMax`. The check runs before the body is parsed. Later code
 * recurses once per level, and thousands of levels would overflow the stack.
 */
export function nestsDeeper(bytes: Buffer, levelsMax: number): boolean {
  let levels = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    // The characters [ and {, and ] and }.
    else if (byte === 0x5b || byte === 0x7b) {
      if (++levels > levelsMax) return true
    } else if (byte === 0x5d || byte === 0x7d) levels--
  }
  return false
}

/**
 * Finds the end of the string that begins at `begin`. The search for the quote is native code, because most of a body
 * is ciphertext.
 */
function endOfString(bytes: Buffer, begin: number): number {
  for (let end = bytes.indexOf(quote, begin + 1); end > 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0
    while (bytes[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return bytes.length
}
