/** All servers read a path without any of these characters alike. Most paths have none. */
const worthReading = /[%\\]|(?:^|\/)\.|[^\x21-\x7e]/

/** Servers decode a path once or twice, and a proxy before them once more. */
const decodingsMax = 4

/** UTF-8 in more bytes than needed. Lenient decoders read `%c0%ae` as a dot. */
const overlong = /%(?:c[01]|e0%[89]|f0%8)/i

/** `%u002e`, which IIS decodes. */
const wideEscape = /%u([0-9a-f]{4})/gi
const escapes = /(?:%[0-9a-f]{2})+/gi

/**
 * Whether a common server could read another path than the written one: a path with a `.` or `..` segment, however it
 * is encoded. Java servers drop the text after a `;`, others cut a segment at a NUL or drop spaces, some decode twice
 * or read overlong UTF-8.
 *
 * @param path without its query.
 * @example isAmbiguousPath('/v1/items/..;/admin') // true
 */
export function isAmbiguousPath(path: string): boolean {
  if (!worthReading.test(path)) return false
  let read = path
  for (let times = 0; times < decodingsMax; times++) {
    if (overlong.test(read) || hasDotSegment(read)) return true
    const decoded = decodeOnce(read)
    if (decoded === read) return false
    read = decoded
  }
  // No honest client encodes a path this often.
  return true
}

const decodeOnce = (path: string): string =>
  path
    .replace(wideEscape, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(escapes, (text) => new TextDecoder().decode(bytesOf(text)))

const bytesOf = (text: string) => Uint8Array.from(text.slice(1).split('%'), (hex) => Number.parseInt(hex, 16))

/** Windows reads full-width dots as dots. */
const dots = /^[.\uff0e]{1,2}$/
/** Spaces and control characters, which some servers drop. */
const dropped = /[^\x21-\x7e\u0080-\uffff]/g

const hasDotSegment = (path: string): boolean =>
  path.split(/[/\\]/).some((segment) => dots.test(segment.split(/[;?#\0]/, 1)[0]!.replace(dropped, '')))
