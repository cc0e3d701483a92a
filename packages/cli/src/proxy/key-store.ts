import { createHash } from 'node:crypto'

/** What Java's tools use everywhere. It keeps nothing secret: certificates are public. */
export const keyStorePassword = 'changeit'

const magic = 0xfeedfeed
const version = 2
const trustedCertificate = 2

/**
 * Certificates as the key store that Java has read since its first versions (JKS): the one form of a list of trusted
 * certificates that every Java takes, and that no other tool is needed for.
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

/** Its length in two bytes, then its bytes. */
function text(value: string): Buffer {
  const bytes = Buffer.alloc(2 + value.length)
  bytes.writeUInt16BE(value.length)
  bytes.write(value, 2, 'latin1')
  return bytes
}
