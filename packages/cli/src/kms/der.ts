import type { Bytes } from '@skerry/crypto/base64url'

// Converts ECDSA signatures between DER, which AWS uses, and 64 bytes (IEEE P1363), which Skerry uses.

export function derOf(signature: Bytes): Bytes {
  const body = [...integer(signature.subarray(0, 32)), ...integer(signature.subarray(32))]
  return new Uint8Array([0x30, body.length, ...body])
}

function integer(bytes: Bytes): number[] {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = [...bytes.subarray(first < 0 ? bytes.length - 1 : first)]
  // A leading 1 bit would make the integer negative.
  const positive = (digits[0] ?? 0) >= 0x80 ? [0, ...digits] : digits
  return [0x02, positive.length, ...positive]
}

/** Null for anything but the canonical DER of two integers of at most 32 bytes. */
export function p1363Of(der: Bytes): Bytes | null {
  const [tag, length, firstTag, firstLength = 0] = der
  if (tag !== 0x30 || length !== der.length - 2 || firstTag !== 0x02) return null
  const r = der.subarray(4, 4 + firstLength)
  const [secondTag, secondLength] = der.subarray(4 + firstLength, 6 + firstLength)
  const s = der.subarray(6 + firstLength)
  if (secondTag !== 0x02 || secondLength !== s.length) return null
  const out = new Uint8Array(64)
  for (const [at, whole] of [r, s].entries()) {
    const digits = whole[0] === 0 ? whole.subarray(1) : whole
    if (digits.length > 32) return null
    out.set(digits, 32 * (at + 1) - digits.length)
  }
  return Buffer.from(derOf(out)).equals(der) ? out : null
}
