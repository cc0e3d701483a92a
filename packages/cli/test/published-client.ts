import {
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'

// A client like those that others have published, written from the wire formats alone. It shares no code with ours, so
// a mistake in our code cannot hide in both.

interface Layer {
  environmentId: string
  wrappedDek: string
  secrets: { name: string; ciphertext: string }[]
}

export const bytes = (text: string) => Buffer.from(text, 'base64url')

/**
 * Resolves with the whole token as bearer, decrypts every layer, merges them so that later layers win, and expands
 * references.
 */
export async function resolveAsPublished(url: string, token: string, query = ''): Promise<Record<string, string>> {
  const response = await fetch(`${url}/v1/resolve${query}`, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const { layers } = (await response.json()) as { layers: Layer[] }
  const key = keyOf(token)
  const merged: Record<string, string> = {}
  for (const layer of layers) {
    const dek = unwrap(layer.wrappedDek, key)
    for (const { name, ciphertext } of layer.secrets)
      merged[name] = open(ciphertext, dek, `${layer.environmentId}/${name}`)
  }
  return Object.fromEntries(Object.entries(merged).map(([name, value]) => [name, expand(value, merged)]))
}

/** The private key in a service token. */
export const keyOf = (token: string): KeyObject =>
  createPrivateKey({ key: bytes(token.split('_').slice(2).join('_')), format: 'der', type: 'pkcs8' })

export function unwrap(blob: string, key: KeyObject): Buffer {
  const [prefix, point, salt, iv, sealed] = blob.split('.') as [string, string, string, string, string]
  if (prefix !== 'wd1') throw new Error(`not a wrapped key: ${prefix}`)
  const ephemeral = bytes(point)
  const publicKey = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: ephemeral.subarray(1, 33).toString('base64url'),
      y: ephemeral.subarray(33).toString('base64url'),
    },
  })
  const shared = diffieHellman({ privateKey: key, publicKey })
  const wrapping = Buffer.from(hkdfSync('sha256', shared, bytes(salt), 'seekrit/wrap-dek/v1', 32))
  return gcm(wrapping, bytes(iv), bytes(sealed), Buffer.alloc(0))
}

function open(blob: string, dek: Buffer, aad: string): string {
  const [prefix, iv, sealed] = blob.split('.') as [string, string, string]
  if (prefix !== 'sc1') throw new Error(`not a secret: ${prefix}`)
  return gcm(dek, bytes(iv), bytes(sealed), Buffer.from(aad)).toString('utf8')
}

export function gcm(key: Buffer, iv: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, iv)
  decipher.setAAD(aad)
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
}

const expand = (value: string, all: Record<string, string>): string =>
  value.replace(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name) => {
    if (name === undefined) return '${'
    return name in all ? expand(all[name] as string, all) : whole
  })
