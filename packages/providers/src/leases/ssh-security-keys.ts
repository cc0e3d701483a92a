import { createPublicKey } from 'node:crypto'

// Public keys whose private half is in a security key (FIDO), as in OpenSSH's PROTOCOL.u2f. sshpk does not know them.

/** Checks the fields after the type on the wire: the key, and the application that it was made for. */
const layouts: Readonly<Record<string, (fields: Buffer[]) => boolean>> = {
  'sk-ssh-ed25519@openssh.com': ([key, application, ...more]) =>
    key?.length === 32 && isApplication(application) && more.length === 0,
  'sk-ecdsa-sha2-nistp256@openssh.com': ([curve, point, application, ...more]) =>
    curve?.toString() === 'nistp256' && isPoint(point) && isApplication(application) && more.length === 0,
}

export const securityKeyTypes = Object.keys(layouts)

/** Returns the key in wire format, or undefined if the text is no key of this type. */
export function readSecurityKey(type: string, base64: string): Buffer | undefined {
  const blob = Buffer.from(base64, 'base64')
  const [name, ...fields] = fieldsOf(blob)
  return name?.toString() === type && layouts[type]?.(fields) ? blob : undefined
}

/** Empty if the lengths do not add up. */
function fieldsOf(blob: Buffer): Buffer[] {
  const fields: Buffer[] = []
  let at = 0
  while (at < blob.length) {
    if (at + 4 > blob.length) return []
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) return []
    fields.push(blob.subarray(at + 4, end))
    at = end
  }
  return fields
}

const isApplication = (field: Buffer | undefined): boolean => field !== undefined && field.length > 0

/** Whether the point is uncompressed and on the curve. */
function isPoint(point: Buffer | undefined): boolean {
  if (point?.length !== 65 || point[0] !== 4) return false
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url')) as [
    string,
    string,
  ]
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } })
    return true
  } catch {
    return false
  }
}
