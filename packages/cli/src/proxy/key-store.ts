import { createHash } from 'node:crypto'

/** The usual password of Java's tools. It protects nothing secret, because certificates are public. */
export const keyStorePassword = 'changeit'

const magic = 0xfeedfeed
const version = 2
const trustedCertificate = 2

/**
 * Writes certificates as a JKS key store. Every version of Java reads this format, and writing it needs no other tool.
 *
 * @param certificates in DER.
 */
export function keyStore(certificates: readonly Buffer[]): Buffer {
  const entries = certificates.map((certificate, at) => {
    const head = Buffer.alloc(8)
    return Buffer.concat([
      uint32(trustedCertificate),
      text(`ca-${at}`),
      head,
      text('X.509'),
      uint32(certificate.length),
      certificate,
    ])
  })
  const content = Buffer.concat([uint32(magic), uint32(version), uint32(entries.length), ...entries])
  const digest = createHash('sha1')
    .update(Buffer.from(keyStorePassword, 'utf16le').swap16())
    .update('Mighty Aphrodite')
    .update(content)
    .digest()
  return Buffer.concat([content, digest])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Encodes a text: its length in two bytes, then its bytes. */
function text(value: string): Buffer {
  const bytes = Buffer.alloc(2 + value.length)
  bytes.writeUInt16BE(value.length)
  bytes.write(value, 2, 'latin1')
  return bytes
}
